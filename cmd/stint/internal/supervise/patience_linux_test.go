package supervise

import (
	"testing"
	"time"
)

// One process that will not die is given up; those that are new each time are not,
// for a while.
func TestWhatWillNotDieIsGivenUp(t *testing.T) {
	t.Parallel()
	old, forked := process{pid: 7, start: 1}, process{pid: 7, start: 2}
	p := newPatience()
	if p.over([]process{old}) {
		t.Errorf("given up at once")
	}
	p.seen[old.key()] = time.Now().Add(-unkillable)
	if p.over([]process{old, forked}) {
		t.Errorf("given up although one is new")
	}
	if !p.over([]process{old}) {
		t.Errorf("not given up after %s", unkillable)
	}
	p.began = time.Now().Add(-endless)
	if !p.over([]process{old, forked}) {
		t.Errorf("not given up after %s", endless)
	}
}
