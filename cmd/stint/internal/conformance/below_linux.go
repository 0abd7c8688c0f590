package conformance

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Adopt makes this process the parent of what workers leave behind, so that
// Sweep finds it.
func Adopt() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt what workers leave behind: %w", err)
	}
	return nil
}

// Sweep kills all that is below this process. Only a process that started nothing
// but workers may call it.
func Sweep() { killBelow(os.Getpid()) }

// killBelow kills all processes below one, until there are no more.
func killBelow(pid int) {
	for range 50 {
		below := descendants(pid)
		if len(below) == 0 {
			return
		}
		for _, one := range below {
			killOne(one)
		}
	}
}

// descendants are the processes below one that are not over yet.
func descendants(pid int) (all []int) {
	children := map[int][]int{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		child, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if parent, zombie, ok := parentOf(child); ok && !zombie {
			children[parent] = append(children[parent], child)
		}
	}
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		all = append(all, children[queue[0]]...)
		queue = append(queue, children[queue[0]]...)
	}
	return all
}

// parentOf reads /proc/PID/stat: the name, which may hold anything, ends at the
// last parenthesis.
func parentOf(pid int) (parent int, zombie, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false, false
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 {
		return 0, false, false
	}
	parent, err = strconv.Atoi(string(fields[1]))
	return parent, string(fields[0]) == "Z", err == nil
}
