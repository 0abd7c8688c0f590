package supervise

import (
	"bytes"
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// process is what /proc/PID/stat tells of one.
type process struct {
	pid, parent    int
	group, session int
	state          byte
	start          uint64 // ticks since the machine was started
	name           string
}

// hidden is the name of a child that /proc does not show.
const hidden = "hidden in /proc"

// living tells whether it can still do anything.
func (p process) living() bool { return p.state != 'Z' && p.state != 'X' }

// key tells a process from a later one of the same number.
func (p process) key() string { return strconv.Itoa(p.pid) + "@" + strconv.FormatUint(p.start, 10) }

func (p process) String() string { return "pid " + strconv.Itoa(p.pid) + " (" + p.name + ")" }

// processes lists those of the machine that /proc shows, and children of ours that
// it hides. It is no snapshot: what is forked meanwhile may be missing, yet a process
// that lives on beside it all the time is there.
func processes() (all []process) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	buf := make([]byte, 4096)
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		if p, ok := readStat("/proc/"+name+"/stat", buf); ok {
			all = append(all, p)
		}
	}
	for _, p := range adopted() {
		if p.name == hidden {
			all = append(all, p)
		}
	}
	return all
}

func processOf(pid int) (process, bool) { return look(pid, make([]byte, 4096)) }

// look finds a process, also a child that /proc hides.
func look(pid int, buf []byte) (process, bool) {
	if p, ok := readStat("/proc/"+strconv.Itoa(pid)+"/stat", buf); ok {
		return p, true
	}
	return hiddenChild(pid)
}

// hiddenChild is a child that made itself unreadable (PR_SET_DUMPABLE, a program
// without read permission) on a system whose /proc shows no such process to others
// (hidepid). Its number cannot become another's before it is reaped.
func hiddenChild(pid int) (process, bool) {
	ended, _, err := peek(unix.P_PID, pid, unix.WEXITED)
	if err != nil {
		return process{}, false // no child of ours
	}
	p := process{pid: pid, parent: os.Getpid(), state: '?', name: hidden}
	if ended != 0 {
		p.state = 'Z'
	}
	var errs [2]error
	p.group, errs[0] = unix.Getpgid(pid)
	p.session, errs[1] = unix.Getsid(pid)
	return p, errs == [2]error{}
}

// readStat reads a process's file; tests have it hide some.
var readStat = readStatFile

// readStatFile reads "PID (NAME) STATE PARENT GROUP SESSION …"; the name may hold
// anything, also parentheses.
func readStatFile(path string, buf []byte) (process, bool) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return process{}, false
	}
	n, err := unix.Read(fd, buf)
	_ = unix.Close(fd)
	if err != nil {
		return process{}, false
	}
	text := buf[:n]
	from, to := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if from < 1 || to < from {
		return process{}, false
	}
	f := bytes.Fields(text[to+1:])
	if len(f) < 20 {
		return process{}, false
	}
	p := process{state: f[0][0], name: string(text[from+1 : to])}
	number := func(field []byte) int {
		n, _ := strconv.Atoi(string(field))
		return n
	}
	p.pid, p.parent = number(text[:from-1]), number(f[1])
	p.group, p.session = number(f[2]), number(f[3])
	p.start, _ = strconv.ParseUint(string(f[19]), 10, 64)
	return p, p.pid > 0
}

// childrenFile lists the children of this process's first thread; kernels may lack it.
var childrenFile = "/proc/self/task/" + strconv.Itoa(os.Getpid()) + "/children"

// adopted are the children of this process's first thread: orphans become those. A
// few microseconds tell them, while a list of all processes may come too late for
// one that forks and ends all the time.
func adopted() (found []process) {
	text, err := os.ReadFile(childrenFile)
	if err != nil {
		return nil
	}
	buf := make([]byte, 4096)
	for _, field := range strings.Fields(string(text)) {
		pid, _ := strconv.Atoi(field)
		if p, ok := look(pid, buf); ok {
			found = append(found, p)
		}
	}
	return found
}

// below are the processes of all whose ancestor is one of the roots, roots
// included, the newest first.
func below(all []process, root func(process) bool) (found []process) {
	children := make(map[int][]process, len(all))
	for _, p := range all {
		children[p.parent] = append(children[p.parent], p)
		if root(p) {
			found = append(found, p)
		}
	}
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i].pid]...)
	}
	slices.SortFunc(found, func(a, b process) int { return cmp.Compare(b.start, a.start) })
	return slices.CompactFunc(found, func(a, b process) bool { return a.pid == b.pid })
}

// signalGroups sends a signal to every group that one of the processes lives in:
// to all of its members at one moment, so that none of them can fork away. Sessions
// that were made below this process hold nobody else's groups; a group of its own
// session is left alone, and so is the one that has got the signal before.
func signalGroups(all []process, s syscall.Signal, before int) {
	sent := map[int]bool{before: true}
	own, _ := unix.Getsid(0)
	for _, p := range all {
		if !p.living() || p.group <= 1 || p.session == own || sent[p.group] {
			continue
		}
		// The number may belong to somebody else by now.
		if is, ok := processOf(p.pid); ok && is.start == p.start && is.group == p.group {
			sent[p.group] = true
			signalGroup(p.group, s)
		}
	}
}
