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
var children = &registry{live: map[int]bool{}, commands: map[int]*syscall.WaitStatus{}, givenUp: map[string]bool{}}

// registry tells supervisors from orphans, which are left when one of them dies.
type registry struct {
	mu       sync.Mutex // held while one starts: none is taken for an orphan meanwhile
	live     map[int]bool
	commands map[int]*syscall.WaitStatus // of each the status, once it was an orphan and was reaped
	givenUp  map[string]bool             // orphans that could not be killed
	exposed  error                       // why supervisors cannot be hidden here while they start
}

// prepared makes the process of a supervisor.
type prepared func(program string, beside ...*os.File) *exec.Cmd

func (r *registry) start(prepare prepared) (*exec.Cmd, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	cmd, err := r.startHidden(prepare)
	if err == nil {
		r.live[cmd.Process.Pid] = true
	}
	return cmd, err
}

// exposure is why supervisors cannot be hidden here while they start, or nil.
func (r *registry) exposure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.exposed
}

// expect has the status of a command noted, should it become an orphan.
func (r *registry) expect(command int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.commands[command] = nil
}

// removed is called when a supervisor is dead. Unless that ended in order, having
// killed all of its command, it kills what is left. status is that of the command, if
// the kernel still had it.
func (r *registry) removed(supervisor, command int, orderly bool) (status *syscall.WaitStatus, left []string) {
	r.mu.Lock()
	delete(r.live, supervisor)
	r.mu.Unlock()
	if orderly {
		r.reapEnded()
	} else {
		left = r.clear()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	status = r.commands[command]
	delete(r.commands, command)
	return status, left
}

// clear kills orphans until there are none; left are those that would not die. A
// list of processes may miss one that is being forked, so it takes two without any.
func (r *registry) clear() (left []string) {
	p := newPatience()
	none := 0
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		orphans := r.sweep()
		if len(orphans) > 0 {
			none = 0
		} else if none++; none == 2 {
			return nil
		}
		if p.over(orphans) {
			r.giveUp(orphans)
			return names(orphans)
		}
		time.Sleep(pause)
	}
}

// giveUp notes orphans that will not die; nothing waits for them again.
func (r *registry) giveUp(orphans []process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range orphans {
		r.givenUp[p.key()] = true
	}
}
