package records_test

import (
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/records"
	"github.com/stint-run/stint/server/sources"
)

func (f *fixture) floor() int64 {
	return dbtest.Get[int64](f.T, f.Store, "select floor from owner_seq where owner_id = $1", f.Owner)
}

func TestSweepKeepsWhatIsNeededAndRaisesFloors(t *testing.T) {
	eachWhole(t, func(f *fixture) {
		ttls := records.TTLs{Superseded: 24 * time.Hour, Tombstone: 48 * time.Hour, Batch: 48 * time.Hour}
		f.write(`{"stream":"notes","data":{"id":"a","v":1}}`, `{"stream":"notes","data":{"id":"b"}}`)
		f.write(`{"stream":"notes","data":{"id":"a","v":2}}`, `{"stream":"notes","op":"delete","key":"b"}`) // seq 3 and 4
		f.Pass(24 * time.Hour)
		f.write(`{"stream":"notes","data":{"id":"a","v":3}}`) // 5
		f.sweep(ttls, 0)
		f.Pass(time.Microsecond)
		f.sweep(ttls, 2) // what 3 and 4 superseded
		if f.floor() != 4 || f.count("record_versions", "true") != 1 || f.count("partitions", "floor_version = 0") != 1 {
			f.Errorf("floor %d, %d versions", f.floor(), f.count("record_versions", "true"))
		}
		f.Pass(24 * time.Hour)
		f.sweep(ttls, 2) // what 5 superseded, and the deletion of b
		if f.floor() != 5 || f.count("records", "true") != 1 || f.count("partitions", "floor_version = 4") != 1 {
			f.Errorf("floor %d, %d records, %d partitions", f.floor(), f.count("records", "true"), f.count("partitions", "floor_version = 4"))
		}
		f.sweep(ttls, 0)
		f.write(`{"stream":"notes","data":{"id":"b"}}`)
		if b := f.record("notes", "b"); b.Version != 6 || b.Deleted {
			f.Errorf("b came back as %+v", b)
		}
	})
}

// In whatever order rows are swept, no floor is below one of them.
func TestFloorsAreAboveAllThatASweepTook(t *testing.T) {
	eachWhole(t, func(f *fixture) {
		f.answered(f.sendBatch(f.api(1000, nil), "?batch_id=b", `{"stream":"people","data":{"id":"p"}}`), 200, nil)
		f.write(`{"stream":"notes","data":{"id":"a"}}`)
		f.write(`{"stream":"notes","data":{"id":"b"}}`)
		f.write(`{"stream":"people","data":{"id":"p","v":2}}`, `{"stream":"notes","data":{"id":"a","v":2}}`)
		f.write(`{"stream":"notes","op":"delete","key":"b"}`, `{"stream":"notes","op":"delete","key":"a"}`)
		if d := dbtest.Get[string](f.T, f.Store, "select key from records where connection_id = $1 and deleted_at is not null order by id desc limit 1", f.connection); d != "b" {
			f.Errorf("%s is the last deletion of the sweep, and b has the lower version", d)
		}
		f.Pass(2 * time.Hour)
		f.sweep(records.TTLs{Superseded: time.Hour, Tombstone: time.Hour, Batch: time.Hour}, 4+2+1)
		if f.floor() != 7 || f.count("partitions", "stream = 'notes' and floor_version = 5") != 1 || f.count("ingest_batches", "true") != 0 {
			f.Errorf("floor %d, %d batches", f.floor(), f.count("ingest_batches", "true"))
		}
	})
}

// plenty writes something into every table that belongs to a connection.
func (f *fixture) plenty() {
	f.Helper()
	f.notes(f.target(), "old", 0, 1000)
	f.notes(f.target(), "old", 1000, 1200)
	f.notes(f.target(), "new", 0, 50)
	f.write(`{"stream":"notes","data":{"id":"dated","at":"2024-05-06"}}`, `{"stream":"notes","checkpoint":{"at":7}}`, `{broken`, `{"stream":"none","data":{}}`)
	dbtest.SQL(f.T, f.Store, `insert into ingest_batches (connection_id, batch_id, owner_id, device, body_hash, state, durable_lines, accepted_count,
		unchanged_count, checkpoint_count, rejected_count, rejections, created_at, updated_at) select id, 'b', owner_id, '', '', 'processing', 0, 0, 0, 0, 0, '[]', created_at, created_at
		from connections where id = $1`, f.connection)
}

// belong are the tables that have rows of a connection until those are removed.
var belong = []string{"records", "record_versions", "day_counts", "partitions", "checkpoints", "record_rejections", "ingest_batches"}

func (f *fixture) counts() map[string]int64 {
	out := map[string]int64{}
	for _, table := range belong {
		out[table] = f.count(table, "true")
	}
	return out
}

func TestDeletedConnectionIsRemovedAndNothingOfOthers(t *testing.T) {
	eachWhole(t, func(f *fixture) {
		gone := f.connection
		f.plenty()
		f.connection = f.connect(f.Owner, sources.Active)
		f.plenty()
		kept, other := f.counts(), f.connection
		f.Tx(func(q model.Querier) error {
			_, err := sources.Delete(f.Context(), q, f.Now, f.Owner, gone, "ada")
			return err
		})
		n, err := records.RemoveDeleted(f.Context(), f.Store)
		want := 0
		for table, rows := range kept {
			if want += int(rows); rows == 0 {
				f.Errorf("the test has no row of %s", table)
			}
		}
		if n != want || err != nil {
			f.Errorf("removed %d rows, %v; want %d", n, err, want)
		}
		f.connection = gone
		for table, rows := range f.counts() {
			if rows != 0 {
				f.Errorf("%d rows of %s are left", rows, table)
			}
		}
		if f.count("connection_removals", "true") != 0 {
			f.Error("the removal has not ended")
		}
		f.connection = other
		for table, rows := range f.counts() {
			if rows != kept[table] {
				f.Errorf("of another connection %d rows of %s are left of %d", rows, table, kept[table])
			}
		}
		if n := dbtest.Get[int64](f.T, f.Store, "select rejected_count from owner_seq where owner_id = $1", f.Owner); n != 2 {
			f.Errorf("the quarantine counts %d lines, and has 2", n)
		}
	})
}

func TestDiscardedLinesGiveTheirRoomBack(t *testing.T) {
	each(t, func(f *fixture) {
		one := f.write(`{broken`, `{broken too`, `{"stream":"none","data":{}}`).Rejected[0].RejectionID
		discard := func(id string, want int64) {
			f.Helper()
			f.Tx(func(q model.Querier) error {
				n, err := records.Discard(f.Context(), q, f.Now, records.Of{OwnerID: f.Owner, ConnectionID: f.connection}, id)
				if n != want {
					f.Errorf("discarded %d, want %d", n, want)
				}
				return err
			})
			f.recount()
		}
		discard(*one, 1)
		discard(*one, 0)
		discard("", 2)
		discard("", 0)
		if n := f.count("record_rejections", "true"); n != 0 {
			f.Errorf("%d are left", n)
		}
	})
}
