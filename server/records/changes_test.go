package records_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/records"
	"github.com/stint-run/stint/server/web"
)

func (f *fixture) tryChanges(since *web.Since, limit int) (records.Changed, error) {
	return records.Changes(f.Context(), f.Store, records.ChangesIn{
		OwnerID: f.Owner, ConnectionID: f.connection, Stream: "notes", Since: since, Limit: limit,
	})
}

func (f *fixture) changes(since *web.Since, limit int) records.Changed {
	f.Helper()
	out, err := f.tryChanges(since, limit)
	if err != nil {
		f.Fatal(err)
	}
	return out
}

// TestReaderOfChangesHasEachRecordAsItIs: while others write, delete and bring back.
func TestReaderOfChangesHasEachRecordAsItIs(t *testing.T) {
	each(t, func(f *fixture) {
		var writers sync.WaitGroup
		for w := range 3 {
			writers.Go(func() {
				for i := range 25 {
					key := fmt.Sprintf("k%d", rand.N(12))
					line := fmt.Sprintf(`{"stream":"notes","data":{"id":%q,"w":%d,"i":%d}}`, key, w, i)
					if rand.N(3) == 0 {
						line = fmt.Sprintf(`{"stream":"notes","op":"delete","key":%q}`, key)
					}
					if _, err := f.tryWrite(f.target(), line); err != nil {
						f.Error(err)
					}
				}
			})
		}
		ended := make(chan struct{})
		go func() { writers.Wait(); close(ended) }()
		mine, last := map[string]model.RecordChangesRow{}, int64(0)
		var since *web.Since
		for done := false; ; {
			select {
			case <-ended:
				done = true
			default:
			}
			page := f.changes(since, 4)
			for _, row := range page.Rows {
				if row.Version <= last || len(page.Rows) > 4 {
					f.Fatalf("version %d after %d, %d rows", row.Version, last, len(page.Rows))
				}
				mine[row.Key], last = row, row.Version
			}
			if since = &page.Next; done && !page.More {
				break
			}
		}
		if n := f.count("records", "true"); n != int64(len(mine)) {
			f.Errorf("%d records, %d were read", n, len(mine))
		}
		for key, row := range mine {
			if r := f.record("notes", key); r.Version != row.Version || r.Deleted != !row.DeletedAt.IsZero() || r.Data != string(row.Data) {
				f.Errorf("%s is %+v, and was read as version %d", key, r, row.Version)
			}
		}
		if page := f.changes(since, 4); len(page.Rows) > 0 || page.More || page.Next.Version != since.Version {
			f.Errorf("nothing changed, and %+v", page)
		}
	})
}

func (f *fixture) expired(since web.Since) {
	f.Helper()
	var is *fault.Fault
	if _, err := f.tryChanges(&since, 9); !errors.As(err, &is) || is.Code != "cursor_expired" {
		f.Errorf("since %+v: %v", since, err)
	}
}

func TestChangesThatCannotBeToldAreExpired(t *testing.T) {
	eachWhole(t, func(f *fixture) {
		if page := f.changes(nil, 9); len(page.Rows) > 0 || page.Next.Version != 0 {
			f.Errorf("of a stream that has brought nothing: %+v", page)
		}
		f.write(`{"stream":"notes","data":{"id":"a"}}`, `{"stream":"notes","data":{"id":"b"}}`)
		early := f.changes(nil, 1).Next
		late := f.changes(&early, 9).Next
		f.write(`{"stream":"notes","op":"delete","key":"a"}`, `{"stream":"notes","op":"delete","key":"b"}`, `{"stream":"notes","data":{"id":"c"}}`)
		other, future := late, late
		other.Epoch++
		f.expired(other)
		future.Version = 6
		f.expired(future)
		f.write(`{"stream":"notes","op":"delete","key":"c"}`)
		before := f.changes(&late, 9)
		if len(before.Rows) != 3 || before.Next.Version != 6 {
			f.Errorf("%+v", before)
		}
		f.Pass(time.Hour)
		f.write(`{"stream":"notes","data":{"id":"d"}}`, `{"stream":"notes","data":{"id":"e"}}`)
		f.sweep(records.TTLs{Superseded: time.Hour, Tombstone: time.Minute, Batch: time.Hour}, 3)
		f.expired(early)
		f.expired(late)
		if page := f.changes(&before.Next, 9); len(page.Rows) != 2 {
			f.Errorf("one who had the deletions: %+v", page)
		}
		// One who begins after the sweep reads page by page, below the floor too.
		f.write(`{"stream":"notes","data":{"id":"d","again":1}}`, `{"stream":"notes","data":{"id":"f"}}`)
		dbtest.SQL(f.T, f.Store, "update partitions set floor_version = 9 where connection_id = $1", f.connection)
		first := f.changes(nil, 1)
		if page := f.changes(&first.Next, 9); first.Next.Version != 8 || len(page.Rows) != 2 || page.Next.Version != 10 {
			f.Errorf("%+v, then %+v", first, page)
		}
		dbtest.SQL(f.T, f.Store, "update partitions set floor_version = 10 where connection_id = $1", f.connection)
		f.expired(first.Next)
	})
}

// before does something before the rows of changes are read.
type before struct {
	model.Reader
	do func()
}

func (b before) RecordChanges(ctx context.Context, arg model.RecordChangesParams) ([]model.RecordChangesRow, error) {
	b.do()
	return b.Reader.RecordChanges(ctx, arg)
}

// A deletion that is swept while a reader reads is not among the rows, and is told.
func TestSweepBesideAReaderHidesNoDeletion(t *testing.T) {
	eachWhole(t, func(f *fixture) {
		f.write(`{"stream":"notes","data":{"id":"a"}}`, `{"stream":"notes","data":{"id":"b"}}`)
		since := f.changes(nil, 9).Next
		f.write(`{"stream":"notes","op":"delete","key":"a"}`)
		f.Pass(time.Hour)
		sweeps := before{f.Store, func() {
			f.sweep(records.TTLs{Superseded: 2 * time.Hour, Tombstone: time.Minute, Batch: 2 * time.Hour}, 1)
		}}
		in := records.ChangesIn{OwnerID: f.Owner, ConnectionID: f.connection, Stream: "notes", Since: &since, Limit: 9}
		if out, err := records.Changes(f.Context(), sweeps, in); err == nil {
			f.Errorf("%+v", out)
		} else {
			f.faulted(err, "cursor_expired")
		}
	})
}

func TestStreamThatNobodyDeclaredHasNoChanges(t *testing.T) {
	each(t, func(f *fixture) {
		for stream, code := range map[string]string{"people": "", "nope": "not_found"} {
			_, err := records.Changes(f.Context(), f.Store, records.ChangesIn{OwnerID: f.Owner, ConnectionID: f.connection, Stream: stream, Limit: 9})
			if code != "" || err != nil {
				f.faulted(err, code)
			}
		}
	})
}

func TestDeletionTellsWhenItWasEmitted(t *testing.T) {
	each(t, func(f *fixture) {
		f.write(`{"stream":"notes","data":{"id":"a"},"emitted_at":"2024-01-02T00:00:00Z"}`, `{"stream":"notes","data":{"id":"b"},"emitted_at":"2024-01-02T00:00:00Z"}`,
			`{"stream":"notes","op":"delete","key":"a","emitted_at":"2024-05-05T00:00:00Z"}`, `{"stream":"notes","op":"delete","key":"b"}`)
		rows := f.changes(nil, 9).Rows
		if a, b := rows[0].EmittedAt.String(), rows[1].EmittedAt.String(); a != "2024-05-05T00:00:00.000000Z" || b != "2024-01-02T00:00:00.000000Z" {
			f.Errorf("a was deleted at %s, b at %s", a, b)
		}
		f.recount()
	})
}

// A page ends where its data are some megabytes: its reader asks for the rest.
func TestPageOfChangesIsBoundInBytes(t *testing.T) {
	each(t, func(f *fixture) {
		large := strings.Repeat("x", 1_000_000)
		for i := range 6 {
			f.write(fmt.Sprintf(`{"stream":"notes","data":{"id":"%d","text":%q}}`, i, large))
		}
		first := f.changes(nil, 100)
		if len(first.Rows) != 5 || !first.More {
			f.Errorf("%d rows of 1 MB, more %v", len(first.Rows), first.More)
		}
		if rest := f.changes(&first.Next, 100); len(rest.Rows) != 1 || rest.More {
			f.Errorf("the rest is %d rows, more %v", len(rest.Rows), rest.More)
		}
	})
}

// sweep sweeps at the fixture's time, which removes so many rows.
func (f *fixture) sweep(ttls records.TTLs, want int) {
	f.Helper()
	f.Store.SetClock(func() coltype.Time { return f.Now })
	if n, err := ttls.Sweep(f.Context(), f.Store); n != want || err != nil {
		f.Errorf("swept %d, %v; want %d", n, err, want)
	}
}
