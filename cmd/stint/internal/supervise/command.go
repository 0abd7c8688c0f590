package supervise

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/boottime"
)

// beat is how often a worker pings its supervisors; tests are less patient.
var beat = time.Second

const (
	// beatsSilent is how many pings in a row a frozen supervisor leaves unanswered.
	beatsSilent = 5
	// obeyWithin is how long a supervisor may take to do what it is told.
	obeyWithin = time.Second
)

// Command is a command that runs below its supervisor.
type Command struct {
	supervisor *exec.Cmd
	crash      crash
	link       *link
	outputs    [2]io.Writer
	pid        int

	until    atomic.Int64
	asked    atomic.Int64 // the number of the last ping or kill
	echoed   atomic.Int64 // the highest that was answered
	writing  atomic.Bool  // an output is being written: nothing is heard meanwhile
	stopped  atomic.Bool  // Terminate or Kill was called
	expired  atomic.Bool
	killSent atomic.Bool // a kill has been sent

	end    End
	ended  sync.Once
	done   chan struct{}       // closed when nothing of the command is left
	gone   chan struct{}       // closed when the supervisor is
	status *syscall.WaitStatus // told by the supervisor; nil: not yet
}

// PID is the process of the command itself.
func (c *Command) PID() int { return c.pid }

// Done is closed when nothing of the command is left, but for End.Left.
func (c *Command) Done() <-chan struct{} { return c.done }

// End is how the command ended; it is known when Done is closed.
func (c *Command) End() End {
	<-c.done
	return c.end
}

// Extend sets the instant at which all of the command is killed.
func (c *Command) Extend(until boottime.Instant) {
	c.until.Store(int64(until))
	c.say(numbered(msgExtend, int64(until)))
}

// Terminate sends SIGTERM to all of the command, also to what is stopped, and
// kills it after grace. It returns at once.
func (c *Command) Terminate(grace time.Duration) {
	c.stopped.Store(true)
	c.say(numbered(msgTerminate, int64(grace)))
	time.AfterFunc(grace+obeyWithin, c.killUnlessDone)
}

// Kill kills all of the command, with its supervisor if that is frozen. It returns
// at once; Done tells when it has come about.
func (c *Command) Kill() {
	c.stopped.Store(true)
	c.killUnlessDone()
}

// Settled tells the supervisor that the worker's report is made, or will never be:
// without it the supervisor makes the report itself when this process is gone. It
// is called once Done is closed, for every command.
func (c *Command) Settled() { c.say(message{kind: msgSettled}) }

func (c *Command) killUnlessDone() {
	select {
	case <-c.done:
		return
	default:
	}
	c.killSent.Store(true)
	number := c.asked.Add(1)
	c.say(numbered(msgKill, number))
	time.AfterFunc(obeyWithin, func() {
		if c.echoed.Load() < number {
			c.killSupervisor()
		}
	})
}

// say sends a message; a supervisor that takes none is of no use any more.
func (c *Command) say(m message) {
	if err := c.link.send(m, obeyWithin); err != nil && !errors.Is(err, syscall.EPIPE) {
		c.killSupervisor()
	}
}

// killSupervisor kills the supervisor. This process adopts what it leaves behind, and
// read sees to that.
func (c *Command) killSupervisor() {
	select {
	case <-c.gone:
	default:
		_ = c.supervisor.Process.Kill()
	}
}

// read takes what the supervisor says until it is dead, and then cleans up.
func (c *Command) read() {
	for {
		m, err := c.link.receive()
		if err != nil {
			break
		}
		c.handle(m)
	}
	_ = c.supervisor.Process.Kill()
	_ = c.supervisor.Wait()
	close(c.gone)
	status, left := children.removed(c.supervisor.Process.Pid, c.pid, c.orderly())
	c.over(c.endAlone(status, left))
	_ = c.link.file.Close()
}

func (c *Command) handle(m message) {
	switch m.kind {
	case msgStdout, msgStderr:
		c.writing.Store(true)
		_, _ = c.outputs[m.kind-msgStdout].Write(m.body)
		c.writing.Store(false)
	case msgEcho:
		c.echoed.Store(max(c.echoed.Load(), m.number()))
	case msgExited:
		status := syscall.WaitStatus(m.number())
		c.status = &status
		c.say(message{kind: msgKept})
	case msgEnd:
		var end End
		if err := json.Unmarshal(m.body, &end); err != nil {
			c.killSupervisor()
			return
		}
		c.over(end)
	}
}

// orderly tells whether the supervisor went when all was over, and left nothing.
func (c *Command) orderly() bool {
	select {
	case <-c.done:
		return c.supervisor.ProcessState.Success() && c.end.Left == nil
	default:
		return false
	}
}

// over makes the end known; only the first counts.
func (c *Command) over(end End) {
	c.ended.Do(func() {
		c.end = end
		close(c.done)
	})
}

// endAlone is the end of a command whose supervisor has died.
// The supervisor may have told its status; else the kernel has it, unless it is
// the kill: by the kernel when the supervisor died, or by the sweep after that.
func (c *Command) endAlone(kept *syscall.WaitStatus, left []string) End {
	end := End{Alone: true, Crash: c.crash.String(), Left: left, Asked: c.stopped.Load(), Expired: c.expired.Load()}
	switch {
	case c.status != nil:
		end.Status, end.Known = *c.status, true
	case kept != nil && kept.Signal() != syscall.SIGKILL:
		end.Status, end.Known = *kept, true
	}
	return end
}

// keep pings the supervisor and keeps the command's time limit beside it, until
// the supervisor is gone.
func (c *Command) keep() {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	silent, its := 0, activity{pid: c.supervisor.Process.Pid}
	for last := time.Now(); ; {
		select {
		case <-c.gone:
			return
		case <-tick.C:
		}
		// A tick that is late tells of a machine under load, or of one that slept.
		late := time.Since(last) > beat*3/2
		last = time.Now()
		switch {
		case c.echoed.Load() >= c.asked.Load():
			silent = 0
		case !late && !c.writing.Load() && its.none():
			silent++
		}
		if silent >= beatsSilent || silent > 1 && c.killSent.Load() {
			c.killSupervisor()
			return
		}
		if now() >= boottime.Instant(c.until.Load()).Add(2*every) {
			c.expire()
		}
		c.say(numbered(msgPing, c.asked.Add(1)))
	}
}

// expire kills what the supervisor should have killed by now.
func (c *Command) expire() {
	select {
	case <-c.done: // what is left is the report, which has time
	default:
		c.expired.Store(true)
		c.killUnlessDone()
	}
}

// failed is the error of a command that could not be started.
func failed(m message) error {
	var f failure
	if err := json.Unmarshal(m.body, &f); err != nil {
		return fmt.Errorf("read what the supervisor says: %w", err)
	}
	return &refusal{f}
}

// refusal is what a supervisor says that cannot start its command.
type refusal struct{ failure }

func (r *refusal) Error() string {
	if r.Useless {
		return ErrCommand.Error() + ": " + r.Text
	}
	return r.Text
}

func (r *refusal) Is(target error) bool { return r.Useless && target == ErrCommand }

// abandon undoes a start that failed. A supervisor that said so has started nothing.
func (c *Command) abandon(err error) {
	_ = c.supervisor.Process.Kill()
	_ = c.supervisor.Wait()
	_, _ = children.removed(c.supervisor.Process.Pid, c.pid, errors.As(err, new(*refusal)))
	_ = c.link.file.Close()
}

// crash is the beginning of what a supervisor prints, which it does only when
// it cannot go on.
type crash struct {
	mu   sync.Mutex
	text []byte
}

func (c *crash) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text = append(c.text, p[:min(len(p), 4096-len(c.text))]...)
	return len(p), nil
}

func (c *crash) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.TrimSpace(string(c.text))
}

func (c *crash) err() error {
	if text := c.String(); text != "" {
		return errors.New(text)
	}
	return nil
}
