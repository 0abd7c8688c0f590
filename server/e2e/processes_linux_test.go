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
	parent int
	state  byte
	exit   int // of a zombie
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
	return p, true
}

// alive tells whether it is there, and no zombie.
func (id procID) alive() bool {
	p, ok := lookAt(id.pid)
	return ok && p.start == id.start && p.state != 'Z' && p.state != 'X'
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

// processes are those of the machine that fit.
func processes(fit func(p proc, cmdline string) bool) (found []proc) {
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, name := range names {
		pid, _ := strconv.Atoi(filepath.Base(name))
		cmdline, _ := os.ReadFile(name + "/cmdline")
		if p, ok := lookAt(pid); ok && p.state != 'Z' && fit(p, string(bytes.ReplaceAll(cmdline, []byte{0}, []byte(" ")))) {
			found = append(found, p)
		}
	}
	return found
}

const supervisorName = "stint-supervisor"

// supervisorsOf are those that a worker has started.
func supervisorsOf(worker int) []proc {
	return processes(func(p proc, cmdline string) bool {
		return p.parent == worker && strings.HasPrefix(cmdline, supervisorName)
	})
}

// holderOf is the supervisor that is a command's parent.
func holderOf(pid int) procID {
	command, _ := lookAt(pid)
	parent, ok := lookAt(command.parent)
	cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", command.parent))
	if !ok || !strings.HasPrefix(string(cmdline), supervisorName) {
		return procID{}
	}
	return parent.procID
}

// marked are the processes whose environment has a mark, with their state.
func marked(pair string) (found []string) {
	for _, p := range processes(func(p proc, _ string) bool { return hasMark(p.pid, pair) }) {
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
		found = append(found, fmt.Sprintf("%d %c %s", p.pid, p.state, bytes.ReplaceAll(cmdline, []byte{0}, []byte(" "))))
	}
	return found
}

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
