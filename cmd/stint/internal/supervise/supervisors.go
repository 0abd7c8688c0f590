package supervise

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// startWithin is how long a supervisor may take to start its command.
const startWithin = 10 * time.Second

// Supervisors are those of a worker; the zero value is ready. A process that has
// any should start no others in sessions of their own: what it did not start by
// Start counts as left over from a supervisor that died, and is killed.
type Supervisors struct {
	Commands int          // how many will run at a time
	Log      *slog.Logger // of what the system does not let them do; nil: none

	once     sync.Once
	confined error
	exposed  atomic.Bool // and logged
	running  sync.WaitGroup
}

// Confine makes this process the parent of orphans and its memory and environment
// unreadable (PR_SET_DUMPABLE), which Start needs. A worker does so at once: another
// worker of its user may have a command that reads what it can.
// It also takes the threads that this process may need: a command can use up its
// user's processes.
func (s *Supervisors) Confine() error {
	s.once.Do(func() {
		if s.confined = confine(); s.confined == nil {
			holdThreads(runtime.GOMAXPROCS(0) + workerThreads + s.Commands)
		}
	})
	return s.confined
}

// Start runs the command of the job; its outputs go to the writers, which must not
// block for long. An error means that nothing of the command runs; it is ErrCommand
// if there is no use in trying again.
func (s *Supervisors) Start(j Job, stdout, stderr io.Writer) (*Command, error) {
	if err := s.Confine(); err != nil {
		return nil, err
	}
	c, err := newCommand(j, stdout, stderr)
	if err != nil {
		return nil, fmt.Errorf("start a supervisor: %w", err)
	}
	s.warn()
	if err := c.handshake(j); err != nil {
		c.abandon(err)
		return nil, err
	}
	s.running.Go(c.read)
	go c.keep()
	return c, nil
}

// warn logs once that supervisors are not hidden while they start.
func (s *Supervisors) warn() {
	if err := children.exposure(); err != nil && s.Log != nil && !s.exposed.Swap(true) {
		s.Log.Warn("the system refuses a hidden copy of this program: commands may open a supervisor in the milliseconds of its start", "error", err.Error())
	}
}

// Wait waits until no supervisor is left; each goes when its command is settled.
func (s *Supervisors) Wait() { s.running.Wait() }

// newCommand starts the supervisor's process.
func newCommand(j Job, stdout, stderr io.Writer) (*Command, error) {
	near, far, err := newPair()
	if err != nil {
		return nil, err
	}
	defer far.Close()
	c := &Command{
		link: newLink(near), outputs: [2]io.Writer{stdout, stderr},
		done: make(chan struct{}), gone: make(chan struct{}),
	}
	c.until.Store(int64(j.Until))
	c.supervisor, err = children.start(func(program string, beside ...*os.File) *exec.Cmd {
		return &exec.Cmd{
			Path: program, Args: []string{argv0, j.Name}, Env: append([]string{}, j.Env...),
			Stderr: &c.crash, ExtraFiles: append([]*os.File{far}, beside...),
			SysProcAttr: &syscall.SysProcAttr{Setsid: true}, WaitDelay: obeyWithin,
		}
	})
	if err != nil {
		_ = near.Close()
		return nil, err
	}
	return c, nil
}

// handshake hands the job over and waits until its command runs.
func (c *Command) handshake(j Job) error {
	args := make([][]byte, len(j.Args))
	for i, arg := range j.Args {
		args[i] = []byte(arg)
	}
	err := c.link.send(encoded(msgJob, wireJob{[]byte(j.Path), args, j.Stdin, j.Handover, int64(j.Until)}), startWithin)
	if err != nil {
		return fmt.Errorf("hand the job to its supervisor: %w", errors.Join(err, c.crash.err()))
	}
	_ = c.link.file.SetReadDeadline(time.Now().Add(startWithin))
	m, err := c.link.receive()
	_ = c.link.file.SetReadDeadline(time.Time{})
	switch {
	case err != nil:
		return fmt.Errorf("wait for the supervisor: %w", errors.Join(err, c.crash.err()))
	case m.kind == msgFailed:
		return failed(m)
	}
	c.pid = int(m.number())
	children.expect(c.pid)
	return nil
}
