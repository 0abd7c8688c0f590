package supervise

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// apart is a worker in a process of its own, with its command.
type apart struct {
	t    *testing.T
	dir  string // its own and the command's files
	job  Job
	cmd  *exec.Cmd
	in   io.WriteCloser
	said printed // its outputs, which are the command's

	worker, supervisor, command int
}

// newApart is a worker that is not started. Its command finds its folder as $1.
func newApart(t *testing.T, script string) *apart {
	t.Helper()
	a := &apart{t: t, dir: t.TempDir()}
	a.job = shell(script, a.dir)
	a.job.Env = append(a.job.Env, "MARK="+a.dir)
	handover, err := json.Marshal(recorder{File: a.path("attempt"), Jump: a.path("jump")})
	if err != nil {
		t.Fatal(err)
	}
	a.job.Handover = handover
	a.cmd = exec.Command("/proc/self/exe")
	a.cmd.Env = append(os.Environ(), "STINT_TEST_WORKER="+a.path("worker"))
	a.cmd.Stdout, a.cmd.Stderr = &a.said, &a.said
	a.cmd.Dir = "/"
	return a
}

// startApart starts a worker and waits until its command runs.
func startApart(t *testing.T, script string) *apart {
	t.Helper()
	a := newApart(t, script)
	a.start()
	return a
}

func (a *apart) start() {
	a.t.Helper()
	a.launch()
	a.hand()
}

// launch starts the worker, which has no command yet.
func (a *apart) launch() {
	a.t.Helper()
	in, err := a.cmd.StdinPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	if err := a.cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	a.in, a.worker = in, a.cmd.Process.Pid
	a.t.Cleanup(a.stop)
}

// hand has the worker start its command, and waits for that.
func (a *apart) hand() {
	a.t.Helper()
	if err := json.NewEncoder(a.in).Encode(a.job); err != nil {
		a.t.Fatal(err)
	}
	await(a.t, "a started command", func() bool { return a.read("worker") != "" })
	if _, err := fmt.Sscanf(a.read("worker"), "started %d %d", &a.supervisor, &a.command); err != nil {
		a.t.Fatal(err)
	}
}

// stop ends what a failed test has left.
func (a *apart) stop() {
	if a.cmd.ProcessState == nil {
		a.signal(a.worker, syscall.SIGKILL)
		_ = a.cmd.Wait()
	}
	for _, p := range a.left() {
		a.signal(p.pid, syscall.SIGKILL)
	}
}

func (a *apart) path(name string) string { return filepath.Join(a.dir, name) }

// read is what a file of the folder holds.
func (a *apart) read(name string) string {
	text, _ := os.ReadFile(a.path(name))
	return string(text)
}

// make makes a file of the folder.
func (a *apart) make(name string) {
	a.t.Helper()
	if err := os.WriteFile(a.path(name), nil, 0o600); err != nil {
		a.t.Fatal(err)
	}
}

func (a *apart) signal(pid int, s syscall.Signal) { _ = unix.Kill(pid, s) }

// awaitFiles waits until the command has made files.
func (a *apart) awaitFiles(names ...string) {
	a.t.Helper()
	for _, name := range names {
		await(a.t, name, func() bool { return exists(a.path(name)) })
	}
}

// awaitEnd is the end that the worker knows.
func (a *apart) awaitEnd() (end End) {
	a.t.Helper()
	await(a.t, "an end in the worker", func() bool { return strings.Contains(a.read("worker"), "\nend ") })
	_, text, _ := strings.Cut(a.read("worker"), "\nend ")
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&end); err != nil {
		a.t.Fatal(err)
	}
	return end
}

// tell has the worker do something.
func (a *apart) tell(what string) {
	a.t.Helper()
	if _, err := io.WriteString(a.in, what+"\n"); err != nil {
		a.t.Fatal(err)
	}
}

// settle ends the worker and its supervisor; what the command printed is there then.
func (a *apart) settle() (end End, printed string) {
	a.t.Helper()
	end = a.awaitEnd()
	a.tell("settled")
	if err := a.cmd.Wait(); err != nil {
		a.t.Fatal(err)
	}
	return end, a.said.String()
}

// awaitState waits until a process is in a state, as T or Z of ps.
func (a *apart) awaitState(pid int, state byte) {
	a.t.Helper()
	await(a.t, "state "+string(state), func() bool {
		p, ok := processOf(pid)
		return ok && p.state == state
	})
}

// nothingLeft waits until no process of the command lives, nor its supervisor: the
// second of the promise, and two more for a machine that many tests share.
func (a *apart) nothingLeft() {
	a.t.Helper()
	late := time.NewTimer(3 * time.Second)
	defer late.Stop()
	for {
		left := a.left()
		if len(left) == 0 {
			return
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-late.C:
			a.t.Fatalf("%d left, as %v", len(left), left[0])
		}
	}
}

// left are the living processes with the mark in their environment.
func (a *apart) left() (found []process) {
	for _, p := range processes() {
		if p.living() && p.pid != a.worker && a.marked(p.pid) {
			found = append(found, p)
		}
	}
	return found
}

func (a *apart) marked(pid int) bool {
	env, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return pid == a.supervisor || strings.Contains(string(env), "MARK="+a.dir+"\x00")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
