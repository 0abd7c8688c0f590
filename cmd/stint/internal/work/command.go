package work

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// pipesAfterExit is how long output may still come when the command has ended.
const pipesAfterExit = 2 * time.Second

// process is a running command with all that it started: a process group.
type process struct {
	cmd    *exec.Cmd
	stdout *lines
	stderr *lines
	done   chan struct{}
	err    error // of the wait
}

// start starts the command for the job.
func (a *attempt) start() (*process, error) {
	prefix := ""
	if a.Concurrency > 1 {
		prefix = "[" + a.job.ID + "] "
	}
	p := &process{
		cmd:    exec.Command(a.Command[0], a.Command[1:]...),
		stdout: &lines{sink: a.out, prefix: prefix},
		stderr: &lines{sink: a.err, prefix: prefix},
		done:   make(chan struct{}),
	}
	p.cmd.Stdin = bytes.NewReader(stdinOf(a.job.raw))
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
	p.cmd.Env = a.environment(os.Environ())
	p.cmd.SysProcAttr = ownGroup()
	p.cmd.WaitDelay = pipesAfterExit
	started := make(chan error)
	go func() {
		// The kernel kills a command when the thread that started it ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := a.Commands.start(p)
		started <- err
		if err == nil {
			p.wait()
			a.Commands.remove(p)
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start the command: %w", err)
	}
	return p, nil
}

// wait waits for the command, and ends what it left running: nobody holds the
// lease for that any more.
func (p *process) wait() {
	p.err = p.cmd.Wait()
	p.signal(syscall.SIGKILL)
	p.stdout.end()
	p.stderr.end()
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// signal sends a signal to the whole group; it may have ended by then.
func (p *process) signal(s syscall.Signal) { _ = syscall.Kill(-p.pid(), s) }

func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// terminate asks the group to end and kills it after grace. It tells whether
// the lease was lost meanwhile; then the kill comes at once.
func (p *process) terminate(grace time.Duration, lost <-chan struct{}) bool {
	p.signal(syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return false
	case <-timer.C:
		p.kill()
		return false
	case <-lost:
		p.kill()
		return true
	}
}

// outcome is the error code and message of a command that did not exit 0, or
// an empty code.
func (p *process) outcome() (code, message string) {
	state := p.cmd.ProcessState
	status, ok := state.Sys().(syscall.WaitStatus)
	switch {
	case state.Success():
		return "", ""
	case ok && status.Signaled():
		code = "signal_" + signalName(status.Signal())
	default:
		code = "exit_" + strconv.Itoa(state.ExitCode())
	}
	if message = p.stderr.tail(); message == "" {
		message = "the command ended with " + state.String() + " and wrote nothing to its standard error"
	}
	return code, message
}

// result is the last line of output that is JSON, or nil.
func (p *process) result() json.RawMessage { return p.stdout.lastJSON }

// stdinOf is the job as one line, without what proves the lease.
func stdinOf(raw json.RawMessage) []byte {
	var job map[string]json.RawMessage
	if err := json.Unmarshal(raw, &job); err != nil {
		panic(err) // it was decoded before
	}
	delete(job, "lease_token")
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(job); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// environment is the worker's own, without its secrets and with the job's.
func (a *attempt) environment(own []string) []string {
	j := a.job
	env := inherited(own)
	add := func(name, value string) { env = append(env, name+"="+value) }
	add("STINT_JOB_ID", j.ID)
	add("STINT_RUN_ID", j.RunID)
	add("STINT_KIND", j.Kind)
	add("STINT_ATTEMPT", strconv.FormatInt(j.Attempt, 10))
	add("STINT_MAX_ATTEMPTS", strconv.FormatInt(j.MaxAttempts, 10))
	add("STINT_WORKER", a.Worker)
	add("STINT_SERVER", a.Server)
	for name, value := range map[string]*string{"STINT_KEY": j.Key, "STINT_REPO_ID": j.RepoID, "TRACEPARENT": j.Traceparent} {
		if value != nil {
			add(name, *value)
		}
	}
	if j.IssueNumber != nil {
		add("STINT_ISSUE_NUMBER", strconv.FormatInt(*j.IssueNumber, 10))
	}
	return env
}

var signalNames = map[syscall.Signal]string{
	syscall.SIGHUP: "hup", syscall.SIGINT: "int", syscall.SIGQUIT: "quit", syscall.SIGILL: "ill",
	syscall.SIGTRAP: "trap", syscall.SIGABRT: "abrt", syscall.SIGBUS: "bus", syscall.SIGFPE: "fpe",
	syscall.SIGKILL: "kill", syscall.SIGUSR1: "usr1", syscall.SIGSEGV: "segv", syscall.SIGUSR2: "usr2",
	syscall.SIGPIPE: "pipe", syscall.SIGALRM: "alrm", syscall.SIGTERM: "term",
	syscall.SIGXCPU: "xcpu", syscall.SIGXFSZ: "xfsz", syscall.SIGSYS: "sys",
}

func signalName(s syscall.Signal) string {
	if name, ok := signalNames[s]; ok {
		return name
	}
	return strconv.Itoa(int(s))
}
