package supervise

import (
	"os"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// look notes the end of the command, which stays with the kernel until it is kept,
// and reaps orphans that have ended.
func (o *tree) look() {
	for {
		pid, status, err := peek(unix.P_ALL, 0, unix.WEXITED)
		if err != nil || pid == 0 {
			return
		}
		if pid == o.command && !o.reaped {
			o.status, o.ended = status, true
			if o.reaped = o.kept.Load(); !o.reaped {
				return
			}
		}
		_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
	}
}

// living tells whether any process of it can still do anything. Orphans become
// children of the supervisor, so the kernel knows: a wait for what stops, of which
// zombies are no part, has nobody to wait for then.
func (o *tree) living() bool {
	_, _, err := peek(unix.P_ALL, 0, unix.WSTOPPED)
	return err != unix.ECHILD
}

// all are the processes of it. Orphans that have ended are reaped on the way.
func (o *tree) all() []process {
	self := os.Getpid()
	found := below(processes(), func(p process) bool { return p.parent == self })
	for _, p := range found {
		if p.state == 'Z' && p.parent == self && p.pid != o.command {
			_, _ = unix.Wait4(p.pid, nil, unix.WNOHANG, nil)
		}
	}
	return found
}

// signal sends a signal to all that lives of it: to the command first, which must
// not take the death of a process that it waits for as an end of its own, and exit
// 0 perhaps.
func (o *tree) signal(s syscall.Signal) (living []process) {
	first := 0
	if !o.ended {
		first = o.command // it leads a session, so it cannot leave its group
		signalGroup(first, s)
	}
	living = slices.DeleteFunc(o.all(), func(p process) bool { return !p.living() })
	signalGroups(living, s, first)
	return living
}

// passes is how often killAdopted looks for orphans.
const passes = 20

// killAdopted kills orphans as soon as it sees them.
func (o *tree) killAdopted() {
	for range passes {
		o.look() // many that have ended would hide one that lives
		signalGroups(adopted(), syscall.SIGKILL, 0)
		if !o.living() {
			return
		}
	}
}

// peek finds a child, of all or of one number, in one of the states and leaves it in
// it; pid is 0 if none is.
func peek(kind, id, states int) (pid int, status syscall.WaitStatus, err error) {
	// siginfo of a SIGCHLD: the kernel's union begins at a word's boundary.
	var info struct {
		_    [3]int32
		_    [(unsafe.Sizeof(uintptr(0)) - 4) / 4]int32
		pid  int32
		uid  uint32
		code int32
		_    [112]byte
	}
	raw := (*unix.Siginfo)(unsafe.Pointer(&info))
	for err = unix.EINTR; err == unix.EINTR; {
		err = unix.Waitid(kind, id, raw, states|unix.WNOHANG|unix.WNOWAIT, nil)
	}
	const exited, dumped = 1, 3 // CLD_EXITED, CLD_DUMPED
	switch raw.Code {
	case exited:
		status = syscall.WaitStatus(info.code << 8)
	case dumped:
		status = syscall.WaitStatus(info.code | 0x80)
	default:
		status = syscall.WaitStatus(info.code)
	}
	return int(info.pid), status, err
}
