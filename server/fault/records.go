package fault

import "time"

// BatchConflict is a batch whose id stands for another one: with another body,
// device or run.
func BatchConflict(other, state string) *Fault {
	return New("batch_conflict", "The connection has a batch of this id with another "+other+".").With("state", state)
}

// BatchInProgress is a batch that another sender has, whose lease lasts for that long.
func BatchInProgress(lease time.Duration) *Fault {
	return New("batch_in_progress", "Another sender of this batch is at work.").After(max(lease, time.Second))
}

// HashMismatch is a body that is not the one whose hash was announced.
func HashMismatch(hash string) *Fault {
	f := New("hash_mismatch", "The SHA-256 of the decoded body is "+hash+", not the one that Content-SHA256 names. Nothing was written.")
	f.Errors = []Item{{In: InHeader, Pointer: "/Content-SHA256", Detail: "not the hash of the body"}}
	return f
}
