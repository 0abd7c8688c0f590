//go:build !linux

package supervise

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// look notes the end of the command.
func (o *tree) look() {
	var status unix.WaitStatus
	if pid, err := unix.Wait4(o.command, &status, unix.WNOHANG, nil); err == nil && pid == o.command {
		_ = unix.Kill(-o.command, unix.SIGKILL)
		o.status, o.ended, o.reaped = syscall.WaitStatus(status), true, true
	}
}

func (o *tree) living() bool {
	o.look()
	return !o.ended
}

// signal sends a signal to the command's process group.
func (o *tree) signal(s syscall.Signal) (living []process) {
	if o.ended {
		return nil
	}
	signalGroup(o.command, s)
	return []process{process(o.command)}
}

// killAdopted would kill orphans; here they are process 1's.
func (o *tree) killAdopted() {}
