package supervise

import (
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
}

func (n *nursery) start(cmd *exec.Cmd) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	err := cmd.Start()
	if err == nil {
		n.live[cmd.Process.Pid] = true
	}
	return err
}

// expect has the status of a command noted, should it become an orphan.
func (n *nursery) expect(command int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.commands[command] = nil
}

// removed is called when a supervisor is dead: it kills what that has left behind.
// status is of its command, if that was still with the kernel.
func (n *nursery) removed(supervisor, command int) (status *syscall.WaitStatus, left []string) {
	n.mu.Lock()
	delete(n.live, supervisor)
	n.mu.Unlock()
	giveUp := time.Now().Add(unkillable)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		orphans := n.sweep()
		if len(orphans) == 0 {
			break
		}
		if time.Now().After(giveUp) {
			left = n.resign(orphans)
			break
		}
		time.Sleep(pause)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	status = n.commands[command]
	delete(n.commands, command)
	return status, left
}

// resign notes orphans that will not die; nothing waits for them again.
func (n *nursery) resign(orphans []process) (left []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range orphans {
		n.resigned[p.key()] = true
		left = append(left, p.String())
	}
	return left
}
