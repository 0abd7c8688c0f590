package supervise

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// activity tells a process that is frozen from one that is slow.
type activity struct {
	pid  int
	used int64 // nanoseconds of processor at the last look, where /proc hides it
}

// none tells whether it neither runs nor waits for a processor or a disk: if it is
// silent as well, it is frozen and not slow.
func (a *activity) none() bool {
	dir := "/proc/" + strconv.Itoa(a.pid) + "/task"
	tasks, err := os.ReadDir(dir)
	if err != nil {
		return a.usedNothing()
	}
	buf := make([]byte, 4096)
	for _, task := range tasks {
		p, ok := readStatFile(dir+"/"+task.Name()+"/stat", buf)
		if ok && (p.state == 'R' || p.state == 'D') {
			return false
		}
	}
	return true
}

// usedNothing tells whether it has had no processor since the last look.
func (a *activity) usedNothing() bool {
	var t unix.Timespec
	clock := ^a.pid<<3 | 2 // the process's own clock, as clock_getcpuclockid(3) makes it
	if err := unix.ClockGettime(int32(clock), &t); err != nil {
		return true
	}
	before := a.used
	a.used = t.Nano()
	return a.used == before
}
