package supervise

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// procSelf is this process; tests have none.
var procSelf = "/proc/self"

// confine makes this process the parent of what its descendants leave behind, and
// its memory and environment unreadable to everybody without CAP_SYS_PTRACE.
func confine() error {
	if self, err := os.Readlink(procSelf); err != nil || self != strconv.Itoa(os.Getpid()) {
		return errors.New("/proc is missing, or that of another PID namespace: processes of commands could not be found")
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("set PR_SET_DUMPABLE: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set PR_SET_CHILD_SUBREAPER: %w", err)
	}
	return nil
}

// title is what the thread is called in lists of processes.
func title(name string) {
	if text, err := unix.BytePtrFromString(name); err == nil {
		_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(text)), 0, 0, 0)
	}
}

// traced tells whether somebody attached to this process before it was confined.
func traced() bool {
	status, err := os.ReadFile("/proc/self/status")
	return err == nil && !bytes.Contains(status, []byte("\nTracerPid:\t0\n"))
}

// session is how a command is started: without a terminal, killed if the thread
// that starts it ends, and with no signal blocked.
func session() *syscall.SysProcAttr {
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{}, nil)
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
