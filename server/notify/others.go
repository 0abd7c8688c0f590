package notify

import "sync/atomic"

// remembered is for how many probes of its own a bus believes that others are
// there after it heard of one.
const remembered = 3

// others knows whether other replicas may be listening: each of them sends a
// probe when its line begins, and then one every interval. So one replica alone
// sends nothing but its own.
type others struct{ left atomic.Int64 }

// seen notes that one may be there.
func (o *others) seen() { o.left.Store(remembered) }

// passed notes that an interval has passed.
func (o *others) passed() {
	if o.left.Load() > 0 {
		o.left.Add(-1) // one that is seen meanwhile is seen again an interval later
	}
}

// needed reports whether hints have to be sent. A bus that hears nobody cannot
// know.
func (b *Bus) needed() bool { return !b.listening.Load() || b.others.left.Load() > 0 }
