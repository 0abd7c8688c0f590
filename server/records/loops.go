package records

import (
	"fmt"
	"time"

	"github.com/stint-run/stint/server/control"
)

// TTLs are how long what nobody needs any more is kept.
type TTLs struct {
	Superseded time.Duration // a version, once a later one took its place
	Tombstone  time.Duration // a record, once it was deleted
	Batch      time.Duration // a batch, once nothing more came for it
}

// Check says which of the times is out of bounds, by the name of its setting.
func (t TTLs) Check() error {
	for _, of := range []struct {
		name string
		ttl  time.Duration
	}{{"superseded-ttl", t.Superseded}, {"tombstone-ttl", t.Tombstone}, {"batch-ttl", t.Batch}} {
		if of.ttl < MinTTL || of.ttl > MaxTTL {
			return fmt.Errorf("--%s is %v to %v, not %v", of.name, MinTTL, MaxTTL, of.ttl)
		}
	}
	return nil
}

// The kept times unless the server is told otherwise, and their bounds.
const (
	DefaultSupersededTTL = 7 * 24 * time.Hour
	DefaultTombstoneTTL  = 30 * 24 * time.Hour
	DefaultBatchTTL      = 30 * 24 * time.Hour
	MinTTL               = time.Hour
	MaxTTL               = 365 * 24 * time.Hour
)

// passBatch is how many rows one transaction of a pass removes at most.
const passBatch = 1000

// Loops are the background work on records.
func Loops(ttls TTLs) []control.Loop {
	return []control.Loop{
		{Name: "refresh-remover", Every: 5 * time.Second, Run: RemoveUnseen, Lease: true},
		{Name: "record-sweeper", Every: 10 * time.Second, Run: ttls.Sweep, Lease: true},
		{Name: "connection-remover", Every: 10 * time.Second, Run: RemoveDeleted, Lease: true},
	}
}
