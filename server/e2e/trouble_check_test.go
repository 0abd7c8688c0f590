//go:build linux

package e2e

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// wayOpen is how long a report must have had a server within reach before its
// lease was lost, for it to have been bound to arrive.
const wayOpen = 5 * time.Second

// givenUp is after how long a worker takes a frozen supervisor for dead.
const givenUp = 7 * time.Second

// checkLeft looks for what is left when both workers have ended, and ends it.
func (r *round) checkLeft() {
	late := time.Now().Add(allGone)
	for len(r.left()) > 0 && time.Now().Before(late) {
		<-time.After(250 * time.Millisecond)
	}
	left := r.left()
	for _, what := range left {
		r.watch.fault("left behind: %s", what)
	}
	if len(left) > 0 {
		r.sweep()
	}
}

// sweep kills what is left.
func (r *round) sweep() {
	_ = os.WriteFile(filepath.Join(r.watch.dir, "over"), nil, 0o600) // ends what starts itself anew
	for len(r.running()) > 0 {
		for _, p := range processes(r.ours) {
			p.signal(syscall.SIGKILL)
		}
		<-time.After(250 * time.Millisecond)
	}
}

// left are processes and files of the round.
func (r *round) left() []string {
	found := r.running()
	files, err := os.ReadDir(filepath.Join(r.watch.dir, "tmp"))
	if err != nil {
		found = append(found, err.Error())
	}
	for _, file := range files {
		found = append(found, "in the temporary directory: "+file.Name())
	}
	return found
}

// running are the processes of the round, its workers left out. To look at all
// processes of the machine is dear: only if the locks do not tell already.
func (r *round) running() (found []string) {
	r.watch.set(func() {
		for _, a := range r.watch.attempts {
			if a.gone.IsZero() {
				found = append(found, "a process of run "+a.run)
			}
		}
	})
	if len(found) > 0 {
		return found
	}
	for _, p := range processes(r.ours) {
		found = append(found, p.String())
	}
	return found
}

// ours tells whether a process is of the round. The environment of a supervisor is
// only root's to read, but its arguments name the job.
func (r *round) ours(p proc) bool {
	job, isSupervisor := strings.CutPrefix(p.cmdline, supervisorName+" ")
	return hasMark(p.pid, r.mark()) || isSupervisor && slices.Contains(r.jobs, strings.TrimSpace(job))
}

// checkRuns compares the attempts with what the server says of them.
func (r *round) checkRuns() {
	for i, id := range r.jobs {
		r.readLedger(id)
		attempts := r.attemptsOf(i)
		for n, a := range attempts {
			run := r.runs[a.run]
			r.watch.note("job %d, run %s of %s: %s %s, completed at %s", i, a.run, run.Worker, run.Status, run.TerminalReason, run.CompletedAt.Local().Format("15:04:05.000"))
			if run.Status == "succeeded" && a.saysExit0.IsZero() {
				r.watch.fault("job %d: run %s succeeded, and its command did not", i, a.run)
			}
			if n+1 < len(attempts) {
				r.checkNext(a, attempts[n+1], run)
			}
		}
	}
}

// attemptsOf are those of a job, in the order of their beginnings.
func (r *round) attemptsOf(job int) (found []*attempt) {
	for _, a := range r.watch.attempts {
		if a.job == job {
			found = append(found, a)
		}
	}
	slices.SortFunc(found, func(a, b *attempt) int { return a.began.Compare(b.began) })
	return found
}

// checkNext checks that an attempt had to follow, and that it did so in time.
func (r *round) checkNext(a, next *attempt, run ledgerRun) {
	if r.exited0(a) && (run.Status != "abandoned" || r.couldReport(a.ended, run.CompletedAt)) {
		r.watch.fault("job %d: run %s, %s %s, exited 0, and the job was run again", a.job, a.run, run.Status, run.TerminalReason)
	}
	latest := troubleLease + takeBack + 5*time.Second
	for _, s := range r.away {
		latest += s.to.Sub(s.from)
	}
	if wait := next.began.Sub(a.gone); wait > latest {
		r.watch.fault("job %d: nobody worked on it for %v", a.job, wait)
	}
}

// exited0 tells whether the command exited 0. If the kernel does not tell, its
// last word counts, unless it may have been killed between that and its exit.
func (r *round) exited0(a *attempt) bool {
	if a.saysExit0.IsZero() || a.exit > 0 {
		return false
	}
	killed := slices.ContainsFunc(r.strikes, func(s *strike) bool {
		return s.at.After(a.saysExit0.Add(-time.Second)) && !s.at.After(a.ended)
	})
	return a.exit == 0 || !killed
}

// couldReport tells whether the server was within reach for wayOpen at a
// stretch, between the exit and the moment at which the job was taken back.
func (r *round) couldReport(exit, to time.Time) bool {
	from := r.reporting(exit, to)
	away := slices.Clone(r.away)
	slices.SortFunc(away, func(a, b span) int { return a.from.Compare(b.from) })
	for _, s := range away {
		if s.from.After(to) {
			break
		}
		if s.from.Sub(from) >= wayOpen {
			return true
		}
		from = later(from, cmp.Or(s.to, to))
	}
	return to.Sub(from) >= wayOpen
}

// reporting is from when on somebody reports an exit. One whose worker is frozen
// is reported by its supervisor, after half of the time that it has; one whose
// supervisor is, by the worker, once it has given that up.
func (r *round) reporting(exit, to time.Time) time.Time {
	from := exit
	for _, s := range r.strikes {
		if s.what != freeze || s.at.After(exit.Add(time.Second)) || s.over.Before(exit) {
			continue
		}
		notice := exit.Add(givenUp)
		if s.victim == "worker" {
			notice = exit.Add(to.Sub(exit) / 2)
		}
		if s.over.Before(notice) {
			notice = s.over
		}
		from = later(from, notice)
	}
	return from
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
