package main

import (
	"path/filepath"
	"testing"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// Two databases made of one backup, and the one that it was made of, number other
// changes alike from there on.
func TestRestoreBeginsAnotherEpoch(t *testing.T) {
	t.Parallel()
	eachOwn(t, func(t *testing.T, s *replica, stop func()) {
		stop()
		dbtest.Plant(t, s.db, "insert into owner_seq (owner_id, seq, floor, epoch, rejected_count, rejected_bytes) select id, 7, 3, 1, 0, 0 from owners")
		file := filepath.Join(t.TempDir(), "b")
		must(t, s.db, "backup", "create", file)
		to, epochs := "", map[int64]bool{1: true}
		for range 2 {
			to = dbtest.Empty(t, s.engine())
			must(t, to, "backup", "restore", file)
			r := dbtest.Open(t, store.Config{URL: to})
			epoch := dbtest.Get[int64](t, r, "select max(epoch) from owner_seq")
			if epochs[epoch] || dbtest.Get[int](t, r, "select count(*) from owner_seq where seq = 7 and floor = 3") == 0 {
				t.Errorf("epoch %d is not the first of its kind, or a number differs", epoch)
			}
			epochs[epoch] = true
		}
		// A backup of a release that numbered nothing.
		dbtest.Plant(t, to, "drop table owner_seq")
		old := filepath.Join(t.TempDir(), "old")
		must(t, to, "backup", "create", old)
		must(t, dbtest.Empty(t, s.engine()), "backup", "restore", old)
	})
}
