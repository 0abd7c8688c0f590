package supervise

import (
	"sync/atomic"
	"syscall"
	"time"
)

// tree is the command of a supervisor with all that it has started.
type tree struct {
	command int // its pid
	status  syscall.WaitStatus
	ended   bool        // the command has; status is known
	kept    atomic.Bool // the worker has the status, or is dead: the kernel may forget it
	reaped  bool        // it has: the pid may be another process's by now
}

// kill kills all of it and waits until nothing lives; left are names of what would
// not die.
func (o *tree) kill() (left []string) {
	p := newPatience()
	for pause := time.Millisecond; o.living(); pause = min(2*pause, 20*time.Millisecond) {
		if living := o.signal(syscall.SIGKILL); p.over(living) {
			return namesOrUnseen(living)
		}
		o.killAdopted()
		time.Sleep(pause)
	}
	o.look()
	return nil
}

// namesOrUnseen are the names of what lives, which the system may hide from us.
func namesOrUnseen(living []process) []string {
	if len(living) == 0 {
		return []string{"a process that /proc does not show"}
	}
	return names(living)
}

// signalGroup sends a signal to a process group.
func signalGroup(group int, s syscall.Signal) {
	_ = syscall.Kill(-group, s)
	if s == syscall.SIGTERM {
		_ = syscall.Kill(-group, syscall.SIGCONT) // what is stopped would not get it
	}
}
