package store

import (
	"testing"
	"time"
)

// Rows that come slowly over a slow line are no sign of a dead one: only two looks in
// a row at which nothing has come are.
func TestADoubtEndsWhenSomethingCame(t *testing.T) {
	t.Parallel()
	s := &statement{conn: &pgConn{pg: &pg{doubt: time.Hour}}, seen: 1, doubted: true}
	s.timer = time.AfterFunc(time.Hour, func() {})
	defer s.timer.Stop()
	s.steps.Store(3)
	s.look()
	if s.doubted || s.seen != 3 {
		t.Errorf("doubted %v after step %d", s.doubted, s.seen)
	}
}
