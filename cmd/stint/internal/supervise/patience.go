package supervise

import "time"

const (
	// unkillable is how long a process may live on although it is killed again and
	// again: it is another user's, or waits for a dead disk.
	unkillable = 2 * time.Second
	// endless is how long a kill may take against processes that fork all the time.
	endless = 30 * time.Second
)

// patience tells when to give up on what does not die, so that it holds no end for
// ever. Processes that are new each time are no reason: they would go on for good.
type patience struct {
	began time.Time
	seen  map[string]time.Time // since when
	blind time.Time            // since when something lives and nothing is seen
}

func newPatience() *patience { return &patience{began: time.Now(), seen: map[string]time.Time{}} }

// over tells whether to give up on what lives.
func (p *patience) over(living []process) bool {
	t := time.Now()
	if len(living) > 0 {
		p.blind = time.Time{}
	} else if p.blind.IsZero() {
		p.blind = t
	}
	old := len(living) > 0 || t.Sub(p.blind) >= unkillable
	for _, is := range living {
		if _, known := p.seen[is.key()]; !known {
			p.seen[is.key()] = t
		}
		old = old && t.Sub(p.seen[is.key()]) >= unkillable
	}
	return old || t.Sub(p.began) >= endless
}

func names(all []process) (names []string) {
	for _, p := range all {
		names = append(names, p.String())
	}
	return names
}
