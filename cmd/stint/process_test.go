package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// TestMain puts this very binary into PATH as the command stint.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "stint" {
		os.Exit(run())
	}
	os.Exit(withCommand(m))
}

func withCommand(m *testing.M) int {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "stint-test-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Symlink(self, filepath.Join(dir, "stint")); err != nil {
		panic(err)
	}
	if err := os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH")); err != nil {
		panic(err)
	}
	return m.Run()
}

var engines = []string{store.SQLite, store.Postgres}

// each runs fn on both engines.
func each(t *testing.T, fn func(t *testing.T, s *replica)) {
	t.Helper()
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			fn(t, serveOn(t, engine))
		})
	}
}

// replica is "stint serve" as a process on a fresh database; it keeps its port
// from one start to the next.
type replica struct {
	*process
	t     *testing.T
	db    string
	addr  string
	token string
}

// serveOn starts a server and waits until it is ready.
func serveOn(t *testing.T, engine string) *replica {
	t.Helper()
	s := &replica{t: t, db: dbtest.Whole(t, engine), addr: freeAddr(t)}
	cmd := exec.Command("stint", "token", "create", "--owner", "default", "--scopes", "admin", "-o", "json")
	cmd.Env, cmd.Stderr = s.env(), os.Stderr
	out, err := cmd.Output()
	var made madeToken
	if err != nil || json.Unmarshal(out, &made) != nil || made.Token == "" {
		t.Fatalf("make a token: %v: %s", err, out)
	}
	s.token = made.Token
	s.start()
	return s
}

// freeAddr draws a port that nobody listens on now.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func (s *replica) url() string { return "http://" + s.addr }

// env is the environment of every stint of the test.
func (s *replica) env() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent",
		"STINT_DB=" + s.db, "STINT_SERVER=" + s.url(), "STINT_TOKEN=" + s.token,
	}
}

// start starts the server, again if it was killed.
func (s *replica) start(flags ...string) {
	s.t.Helper()
	args := append([]string{"serve", "--addr", s.addr, "--admin-addr", ""}, flags...)
	s.process = spawn(s.t, s.env(), "stint", args...)
	await(s.t, "a ready server", func() bool {
		resp, err := http.Get(s.url() + "/readyz")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// work starts "stint work" with a shell command.
func (s *replica) work(script string, flags ...string) *process {
	s.t.Helper()
	args := append([]string{"work", "--kinds", "audit"}, flags...)
	return spawn(s.t, s.env(), "stint", append(args, "--", "sh", "-c", script)...)
}

// stint runs a command to its end and decodes what it prints into out.
func (s *replica) stint(out any, args ...string) {
	s.t.Helper()
	cmd := exec.Command("stint", append(args, "-o", "json")...)
	cmd.Env = s.env()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("stint %v: %v: %s", args, err, stderr.String())
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal(text, out); err != nil {
		s.t.Fatalf("stint %v: %v: %s", args, err, text)
	}
}

// wireJob is what the tests look at of a job.
type wireJob struct {
	ID, State     string
	Key           string
	Attempt       int
	Result, Error json.RawMessage
}

// wireRun is what the tests look at of a run.
type wireRun struct {
	ID, Status, Worker string
	JobID              string `json:"job_id"`
	Attempt            int
	TerminalReason     string    `json:"terminal_reason"`
	StartedAt          time.Time `json:"started_at"`
	CompletedAt        time.Time `json:"completed_at"`
}

func (s *replica) enqueue(args ...string) string {
	s.t.Helper()
	var out struct{ Job wireJob }
	s.stint(&out, append([]string{"job", "enqueue", "--kind", "audit"}, args...)...)
	return out.Job.ID
}

func (s *replica) job(id string) (j wireJob) {
	s.t.Helper()
	s.stint(&j, "job", "show", id)
	return j
}

func (s *replica) runs(args ...string) []wireRun {
	s.t.Helper()
	var page struct{ Data []wireRun }
	s.stint(&page, append([]string{"run", "list", "--all"}, args...)...)
	return page.Data
}

func (s *replica) awaitState(id, state string) wireJob {
	s.t.Helper()
	await(s.t, id+" to be "+state, func() bool { return s.job(id).State == state })
	return s.job(id)
}

// process is a command that runs beside the test.
type process struct {
	cmd   *exec.Cmd
	out   *output // both of its outputs
	ended chan struct{}
}

// spawn starts a command in a folder of its own, until the test ends.
func spawn(t *testing.T, env []string, name string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(name, args...), out: &output{}, ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = t.TempDir(), env
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%s %v:\n%s", name, args, p.out)
		}
	})
	return p
}

// kill is kill -9.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

func (p *process) term(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

// exit waits for the end and is the exit code.
func (p *process) exit(t *testing.T) int {
	t.Helper()
	await(t, "the end of "+p.cmd.String(), func() bool {
		select {
		case <-p.ended:
			return true
		default:
			return false
		}
	})
	return p.cmd.ProcessState.ExitCode()
}

// output is a buffer that several goroutines use.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

func (o *output) has(text string) func() bool {
	return func() bool { return strings.Contains(o.String(), text) }
}

// await waits until something is so.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	const patience = 90 * time.Second // the machine may be busy
	deadline := time.After(patience)
	tick := time.NewTicker(30 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("no %s after %s", what, patience)
		}
	}
}

// alive tells whether a process is there.
func alive(pid string) bool {
	state, err := os.ReadFile(fmt.Sprintf("/proc/%s/stat", pid))
	return err == nil && !strings.Contains(string(state), ") Z ")
}
