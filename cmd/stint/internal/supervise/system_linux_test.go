package supervise

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// changeSystem has this process find a system that the test's is not.
func changeSystem(how string) {
	for change := range strings.FieldsSeq(how) {
		switch change {
		case "hidepid": // what is called "hidden" makes itself unreadable
			readStat = func(path string, buf []byte) (process, bool) {
				p, ok := readStatFile(path, buf)
				return p, ok && p.name != "hidden"
			}
		case "nochildren":
			childrenFile = "/nonexistent"
		case "noproc":
			procSelf = "/nonexistent"
		case "noexec":
			makeCopy = func() (*os.File, error) { return os.Open("/etc/passwd") }
		case "nocopy":
			makeCopy = func() (*os.File, error) { return nil, errors.New("no file in memory") }
		default:
			panic(change)
		}
	}
}

// limitProcesses has the user of this process have so many at most, threads included.
func limitProcesses(most string) {
	if n, err := strconv.ParseUint(most, 10, 64); err == nil {
		if err := unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: n, Max: n}); err != nil {
			panic(err)
		}
	}
}

// forkAllTheTime uses up the processes of its user, and says so.
func forkAllTheTime() {
	holdThreads(4)
	for full := false; ; {
		_, err := syscall.ForkExec("/bin/sleep", []string{"sleep", "1000"}, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}})
		if err == nil {
			continue
		}
		if !full {
			os.Stdout.WriteString("threads, now that there is no process\n")
			full = true
		}
		<-time.After(time.Millisecond)
	}
}
