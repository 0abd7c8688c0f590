package notify

// NeededForTest reports whether hints are sent at all.
func (b *Bus) NeededForTest() bool { return b.needed() }
