package supervise

import (
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// sweep kills orphans and reaps those that have ended; it returns what lives. A
// child in this process's own session is none: somebody else has started it.
func (r *registry) sweep() (living []process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	orphan := r.orphan()
	r.killCommands(orphan)
	for range passes {
		r.killAdopted(orphan)
	}
	found := below(processes(), orphan)
	signalGroups(found, syscall.SIGKILL, 0)
	for _, p := range found {
		switch {
		case p.living():
			living = append(living, p)
		case orphan(p):
			r.reap(p.pid)
		}
	}
	return slices.DeleteFunc(living, func(p process) bool { return r.givenUp[p.key()] })
}

// orphan tells orphans from others; it must be called, and used, under the lock.
func (r *registry) orphan() func(process) bool {
	self := os.Getpid()
	session, _ := unix.Getsid(0)
	return func(p process) bool { return p.parent == self && !r.live[p.pid] && p.session != session }
}

// reapEnded reaps orphans that have ended, of other programs too: process 1 of a
// container adopts what "docker exec" and probes leave behind.
func (r *registry) reapEnded() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if pid, _, err := peek(unix.P_ALL, 0, unix.WEXITED); err != nil || pid == 0 {
		return
	}
	orphan := r.orphan()
	for _, p := range adopted() {
		if orphan(p) && !p.living() {
			r.reap(p.pid)
		}
	}
}

// killCommands kills commands before what they have started: as in tree.
func (r *registry) killCommands(orphan func(process) bool) {
	for command := range r.commands {
		if p, ok := processOf(command); ok && orphan(p) && p.living() {
			signalGroup(command, syscall.SIGKILL)
		}
	}
}

// killAdopted kills orphans as soon as it sees them, and reaps them: many that have
// ended would hide one that lives. It must be called under the lock.
func (r *registry) killAdopted(orphan func(process) bool) {
	found := slices.DeleteFunc(adopted(), func(p process) bool { return !orphan(p) })
	signalGroups(found, syscall.SIGKILL, 0)
	for _, p := range found {
		if !p.living() {
			r.reap(p.pid)
		}
	}
}

// reap must be called under the lock.
func (r *registry) reap(pid int) {
	var status unix.WaitStatus
	if got, err := unix.Wait4(pid, &status, unix.WNOHANG, nil); err != nil || got != pid {
		return
	}
	if _, wanted := r.commands[pid]; wanted {
		s := syscall.WaitStatus(status)
		r.commands[pid] = &s
	}
}
