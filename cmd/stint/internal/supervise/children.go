package supervise

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// children are the supervisors of this process. The kernel knows only processes,
// so there is one list, whoever started them.
var children = &nursery{live: map[int]bool{}, commands: map[int]*syscall.WaitStatus{}, resigned: map[string]bool{}}

// nursery tells supervisors from orphans: what is left over when one of them dies.
type nursery struct {
	mu       sync.Mutex // held while one starts: none is taken for an orphan meanwhile
	live     map[int]bool
	commands map[int]*syscall.WaitStatus // of each the status, once it was an orphan and was reaped
	resigned map[string]bool             // orphans that could not be killed
	refused  bool                        // files of memory cannot be executed here
}

// prepared makes the process of a supervisor.
type prepared func(program string, beside ...*os.File) *exec.Cmd

func (n *nursery) start(prepare prepared) (*exec.Cmd, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	cmd, err := n.startHidden(prepare)
	if err == nil {
		n.live[cmd.Process.Pid] = true
	}
	return cmd, err
}

// expect has the status of a command noted, should it become an orphan.
func (n *nursery) expect(command int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.commands[command] = nil
}

// removed is called when a supervisor is dead: it kills what that has left behind,
// if that did not see to it itself. status is of its command, if that was still
// with the kernel.
func (n *nursery) removed(supervisor, command int, orderly bool) (status *syscall.WaitStatus, left []string) {
	n.mu.Lock()
	delete(n.live, supervisor)
	n.mu.Unlock()
	if !orderly {
		left = n.clear()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	status = n.commands[command]
	delete(n.commands, command)
	return status, left
}

// clear kills orphans until there are none; left are those that would not die. A
// list of processes may miss one that is being forked, so it takes two without any.
func (n *nursery) clear() (left []string) {
	p := newPatience()
	none := 0
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		orphans := n.sweep()
		if len(orphans) > 0 {
			none = 0
		} else if none++; none == 2 {
			return nil
		}
		if p.over(orphans) {
			n.resign(orphans)
			return names(orphans)
		}
		time.Sleep(pause)
	}
}

// resign notes orphans that will not die; nothing waits for them again.
func (n *nursery) resign(orphans []process) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range orphans {
		n.resigned[p.key()] = true
	}
}
