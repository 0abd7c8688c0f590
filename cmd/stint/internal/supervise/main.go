package supervise

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// socket is the file descriptor on which a supervisor finds its worker.
const socket = 3

// wireJob is a Job on its way: bytes, since arguments need not be UTF-8. The
// environment is that of the supervisor's process.
type wireJob struct {
	Path            []byte
	Args            [][]byte
	Stdin, Handover []byte
	Until           int64
}

// failure is why a command could not be started.
type failure struct {
	Text    string
	Useless bool // ErrCommand
}

// Main runs this process as a supervisor if it was started as one; it comes before
// anything else in main, and code is the exit code then. attempt makes what the
// supervisor needs beyond the command; nil: nothing.
func Main(attempt func(handover []byte) (Attempt, error)) (code int, isSupervisor bool) {
	if os.Args[0] != argv0 {
		return 0, false
	}
	// The kernel kills a command when the thread that started it ends: this one
	// lives as long as the process.
	runtime.LockOSThread()
	if err := supervise(attempt); err != nil {
		fmt.Fprintln(os.Stderr, err) // read by the worker
		return 1, true
	}
	return 0, true
}

func supervise(attempt func([]byte) (Attempt, error)) error {
	if err := confine(); err != nil {
		return err
	}
	if traced() {
		return fmt.Errorf("another process traces this one")
	}
	title(argv0)
	discardSignals()
	closeInherited()
	runtime.GOMAXPROCS(min(runtime.GOMAXPROCS(0), supervisorProcs))
	holdThreads(supervisorThreads)
	if err := unix.SetNonblock(socket, true); err != nil {
		return fmt.Errorf("find the worker: %w", err)
	}
	unix.CloseOnExec(socket)
	l := newLink(os.NewFile(socket, "worker"))
	m, err := l.receive()
	if err != nil {
		return fmt.Errorf("receive the job: %w", err)
	}
	if m.kind != msgJob {
		return fmt.Errorf("receive the job: it came as message %d", m.kind)
	}
	var j wireJob
	if err := json.Unmarshal(m.body, &j); err != nil {
		return fmt.Errorf("read the job: %w", err)
	}
	return newSupervisor(l, j).run(attempt)
}

// discardSignals catches what can be caught and forgets it: a supervisor ends with
// its command, not by a signal. None is ignored, since a command would inherit
// that; only a hangup that was ignored from the start stays ignored for it.
func discardSignals() {
	var all []os.Signal
	for s := syscall.Signal(1); s < 65; s++ {
		hangup := s == syscall.SIGHUP && signal.Ignored(s)
		if !hangup && s != syscall.SIGURG { // which Go's scheduler sends all the time
			all = append(all, s)
		}
	}
	signal.Notify(make(chan os.Signal, 1), all...)
}

// closeInherited closes the files that the worker itself was started with, as a
// lock's: whatever else is open is closed when the command is started.
func closeInherited() {
	dir, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		dir, _ = os.ReadDir("/dev/fd")
	}
	for _, entry := range dir {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd <= socket {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
}
