//go:build linux

package e2e

import (
	"fmt"
	"slices"
	"time"
)

// measures are what rounds measured.
type measures struct {
	killed   map[string][]time.Duration // by victim: from its death to that of the last process of its attempt
	handover []time.Duration            // from the last process of an attempt whose lease ran out to the next attempt
	attempts int
	exits    int // 0, of attempts
	unknown  int // exits that the kernel did not tell of
	alone    int // attempts that succeeded when their worker was dead or frozen
}

func measured(rounds []*round) measures {
	m := measures{killed: map[string][]time.Duration{}}
	for _, r := range rounds {
		for _, s := range r.strikes {
			m.strike(r, s)
		}
		for job := range r.jobs {
			attempts := r.attemptsOf(job)
			for i, a := range attempts {
				m.attempt(r, a)
				if i > 0 && r.runs[attempts[i-1].run].Status == "abandoned" {
					m.handover = append(m.handover, a.began.Sub(attempts[i-1].gone))
				}
			}
		}
	}
	return m
}

// strike adds what a kill did to the attempts that it hit.
func (m *measures) strike(r *round, s *strike) {
	if s.what != kill {
		return
	}
	for _, a := range r.watch.attempts {
		hit := a.holder.pid != 0 && slices.Contains(s.victims, a.holder)
		hit = hit || s.victim == "worker" && r.runs[a.run].Worker == "troubled" && s.at.Before(r.troubled.over)
		if hit && a.began.Before(s.at) && a.gone.After(s.at) {
			m.killed[s.victim] = append(m.killed[s.victim], a.gone.Sub(s.at))
		}
	}
}

func (m *measures) attempt(r *round, a *attempt) {
	m.attempts++
	switch {
	case a.exit == 0:
		m.exits++
	case a.exit < 0:
		m.unknown++
	}
	run := r.runs[a.run]
	if run.Worker == "troubled" && run.Status == "succeeded" && r.absent(run.CompletedAt) {
		m.alone++
	}
}

// absent tells whether the troubled worker was dead or frozen at a time.
func (r *round) absent(at time.Time) bool {
	return r.troubled.over.Before(at) || slices.ContainsFunc(r.strikes, func(s *strike) bool {
		return s.victim == "worker" && s.what == freeze && s.at.Before(at) && at.Before(s.over)
	})
}

func (m measures) String() string {
	text := fmt.Sprintf("%d attempts, %d exits with 0, %d not known, %d reported without a worker; handover %s",
		m.attempts, m.exits, m.unknown, m.alone, spread(m.handover))
	for victim, all := range m.killed {
		text += fmt.Sprintf("; after the end of %s %s", victim, spread(all))
	}
	return text
}

// spread is how many times there are, the shortest, the median and the longest.
func spread(all []time.Duration) string {
	if len(all) == 0 {
		return "never"
	}
	slices.Sort(all)
	return fmt.Sprintf("%d times: %v, %v, %v", len(all), all[0], all[len(all)/2], all[len(all)-1])
}
