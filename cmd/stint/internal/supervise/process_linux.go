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

// living tells whether it can still do anything.
func (p process) living() bool { return p.state != 'Z' && p.state != 'X' }

// key tells a process from a later one of the same number.
func (p process) key() string { return strconv.Itoa(p.pid) + "@" + strconv.FormatUint(p.start, 10) }

func (p process) String() string { return "pid " + strconv.Itoa(p.pid) + " (" + p.name + ")" }

// processes lists those of the machine. It is no snapshot: what is forked meanwhile
// may be missing, yet a process that lives on beside it all the time is there.
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
	return all
}

func processOf(pid int) (process, bool) {
	return readStat("/proc/"+strconv.Itoa(pid)+"/stat", make([]byte, 4096))
}

// readStat reads "PID (NAME) STATE PARENT GROUP SESSION …"; the name may hold
// anything, also parentheses.
func readStat(path string, buf []byte) (process, bool) {
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

// adopted are the children of this process's first thread: orphans become those. A
// few microseconds tell them, while a list of all processes may come too late for
// one that forks and ends all the time.
func adopted() (found []process) {
	self := strconv.Itoa(os.Getpid())
	text, err := os.ReadFile("/proc/self/task/" + self + "/children")
	if err != nil {
		return nil // a kernel without it
	}
	buf := make([]byte, 4096)
	for _, pid := range strings.Fields(string(text)) {
		if p, ok := readStat("/proc/"+pid+"/stat", buf); ok {
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
