package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// procID is a process that no other one is taken for, whoever has its number
// later.
type procID struct {
	pid   int
	start string // since the machine's start
}

// proc is what /proc says of a process.
type proc struct {
	procID
	parent  int
	state   byte
	exit    int // of a zombie
	cmdline string
}

// lookAt is a process by its number; false if there is none.
func lookAt(pid int) (proc, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return proc{}, false
	}
	// The name, in brackets, may hold anything.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 50 {
		return proc{}, false
	}
	p := proc{procID: procID{pid: pid, start: fields[19]}, state: fields[0][0]}
	p.parent, _ = strconv.Atoi(fields[1])
	p.exit, _ = strconv.Atoi(fields[49])
	cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	p.cmdline = string(bytes.ReplaceAll(cmdline, []byte{0}, []byte(" ")))
	return p, true
}

// signal sends it a signal, if it is there.
func (id procID) signal(s unix.Signal) bool {
	fd, err := unix.PidfdOpen(id.pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if p, ok := lookAt(id.pid); !ok || p.start != id.start {
		return false
	}
	return unix.PidfdSendSignal(fd, s, nil, 0) == nil
}

// processes are those of the machine that fit; zombies are none.
func processes(fit func(proc) bool) (found []proc) {
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, name := range names {
		pid, _ := strconv.Atoi(filepath.Base(name))
		if p, ok := lookAt(pid); ok && p.state != 'Z' && fit(p) {
			found = append(found, p)
		}
	}
	return found
}

const supervisorName = "stint-supervisor"

// supervisorsOf are those that a worker has started.
func supervisorsOf(worker int) []proc {
	return processes(func(p proc) bool { return p.parent == worker && strings.HasPrefix(p.cmdline, supervisorName) })
}

// holderOf is the supervisor that is a command's parent.
func holderOf(pid int) procID {
	command, _ := lookAt(pid)
	if parent, ok := lookAt(command.parent); ok && strings.HasPrefix(parent.cmdline, supervisorName) {
		return parent.procID
	}
	return procID{}
}

func (p proc) String() string { return fmt.Sprintf("%d %c %s", p.pid, p.state, p.cmdline) }

func hasMark(pid int, pair string) bool {
	environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return bytes.Contains(append([]byte{0}, environ...), []byte("\x00"+pair+"\x00"))
}

// endOf gives what waits for the end of a process that is nobody's child here,
// and tells its wait status; -1 if that cannot be known any more.
func endOf(pid int) (func() int, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, err
	}
	p, _ := lookAt(pid)
	return func() int {
		defer unix.Close(fd)
		for {
			_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
			if err != unix.EINTR {
				break
			}
		}
		if z, ok := lookAt(pid); ok && z.start == p.start && z.state == 'Z' {
			return z.exit
		}
		return exitOf(fd)
	}, nil
}

// exitOf asks the kernel, since 6.15, for the wait status of a process that has
// been waited for.
func exitOf(fd int) int {
	const request, infoExit = 0xC040FF0B, 1 << 3 // PIDFD_GET_INFO, PIDFD_INFO_EXIT
	var info struct {
		mask, cgroup uint64
		ids          [11]uint32
		exit         int32
	}
	info.mask = infoExit
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(unsafe.Pointer(&info)))
	if errno != 0 || info.mask&infoExit == 0 {
		return -1
	}
	return int(info.exit)
}
