package supervise

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/boottime"
)

// TestMain makes this binary what it tests: a supervisor, or a worker with one
// command, which tells of it in the file that STINT_TEST_WORKER names.
func TestMain(m *testing.M) {
	bornDumpable = dumpable()
	changeSystem(os.Getenv("STINT_TEST_SYSTEM"))
	if code, ok := Main(newRecorder); ok {
		os.Exit(code)
	}
	if told := os.Getenv("STINT_TEST_WORKER"); told != "" {
		limitProcesses(os.Getenv("STINT_TEST_PROCESSES"))
		if fast, err := time.ParseDuration(os.Getenv("STINT_TEST_BEAT")); err == nil {
			beat = fast
		}
		signal.Ignore(syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGPIPE) // as stint work does
		os.Exit(workOn(os.Stdin, told))
	}
	if os.Getenv("STINT_TEST_BOMB") != "" {
		forkAllTheTime()
	}
	os.Exit(m.Run())
}

// bornDumpable tells whether this process could be read before it did anything.
var bornDumpable bool

// recorder is an Attempt that writes what it is told to a file.
type recorder struct {
	File   string // a line for each call but Output
	Jump   string // when this file is there the supervisor's clock is an hour later
	seen   int64
	report []byte
}

func newRecorder(handover []byte) (Attempt, error) {
	r := &recorder{}
	if len(handover) == 0 {
		return r, nil
	}
	if err := json.Unmarshal(handover, r); err != nil {
		return nil, err
	}
	if r.Jump != "" {
		now = func() boottime.Instant {
			if _, err := os.Stat(r.Jump); err == nil {
				return boottime.Now().Add(time.Hour)
			}
			return boottime.Now()
		}
	}
	return r, nil
}

func (r *recorder) Output(stream int, p []byte) {
	switch {
	case bytes.HasPrefix(p, []byte("panic")):
		panic("the attempt is broken")
	case bytes.HasPrefix(p, []byte("threads")):
		holdThreads(supervisorThreads - supervisorProcs)
		r.note("threads")
	}
	r.seen += int64(len(p))
	r.report = append(r.report, p[:min(len(p), max(0, 100-len(r.report)))]...)
}

func (r *recorder) Ended(e End) []byte {
	report := fmt.Sprintf("status %d expired %t asked %t dumpable %t seen %d: %s", e.Status, e.Expired, e.Asked, bornDumpable, r.seen, r.report)
	r.note("ended " + report)
	return []byte(report)
}

func (r *recorder) Alone(_ context.Context, report []byte) { r.note("alone " + string(report)) }

func (r *recorder) note(line string) {
	if r.File != "" {
		note(r.File, line)
	}
}

// workOn is a worker's process with one command, which the first line of in is. It
// tells of it in a file. A line "kill" kills the command, "again" runs it once more,
// "stray" adopts a process of another program, "threads" uses those that are held, "settled" ends the worker;
// without that the worker stays for ever.
func workOn(in io.Reader, told string) int {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	var j Job
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &j) != nil {
		return 1
	}
	s := Supervisors{Commands: 1, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	c, err := s.Start(j, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	note(told, fmt.Sprintf("started %d %d", c.supervisor.Process.Pid, c.PID()))
	go func() {
		end, err := json.Marshal(c.End())
		if err != nil {
			panic(err)
		}
		note(told, "end "+string(end))
	}()
	for lines.Scan() {
		switch lines.Text() {
		case "kill":
			c.Kill()
		case "again":
			note(told, runAgain(&s, j))
		case "stray":
			if err := exec.Command("sh", "-c", "setsid true &").Run(); err != nil {
				panic(err)
			}
			note(told, "stray")
		case "threads":
			holdThreads(workerThreads)
			note(told, "threads")
		case "settled":
			c.Settled()
			s.Wait()
			return 0
		}
	}
	select {}
}

// runAgain runs the job once more.
func runAgain(s *Supervisors, j Job) string {
	c, err := s.Start(j, os.Stdout, os.Stderr)
	if err != nil {
		return err.Error()
	}
	defer c.Settled()
	return fmt.Sprintf("again %d", c.End().Status)
}

// note adds a line to a file.
func note(file, line string) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintln(f, line)
}
