//go:build soak

package records_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/id"
	"github.com/stint-run/stint/server/records"
	"github.com/stint-run/stint/server/sources"
	"github.com/stint-run/stint/server/store"
)

// bare are the sets of rows that a chunk inserts, as Write makes them: what is
// left of it when nothing is read, counted, numbered or locked.
type bare struct {
	model.Querier
	rows *model.RecordInsertManyParams
	days *model.DayCountAddManyParams
}

func (b bare) RecordInsertMany(_ context.Context, arg model.RecordInsertManyParams) (int64, error) {
	*b.rows = arg
	return 0, nil
}

func (b bare) DayCountAddMany(_ context.Context, arg model.DayCountAddManyParams) (int64, error) {
	*b.days = arg
	return 0, nil
}

var errUndo = errors.New("undo")

// bareOf are the sets of a chunk, which is not written.
func (f *fixture) bareOf(chunk []records.Line) bare {
	f.Helper()
	b := bare{rows: &model.RecordInsertManyParams{}, days: &model.DayCountAddManyParams{}}
	err := f.Try(func(q model.Querier) error {
		b.Querier = q
		_, err := records.Write(f.Context(), b, f.Now, f.target(), chunk)
		return errors.Join(err, errUndo)
	})
	if !errors.Is(err, errUndo) || b.rows.Rows == "" {
		f.Fatal(err)
	}
	return b
}

// fresh is a chunk of n records that nobody has, of about 450 bytes each, over a
// few hundred days.
func fresh(n int) []records.Line {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf(`{"stream":"notes","emitted_at":"2026-01-02T03:04:05Z","data":{"id":"%s","at":"2025-%02d-%02dT10:11:12.345Z","title":"Notes of day %d","body":"%s","n":%d.5,"tags":["a","b%d"],"done":false,"author":{"name":"Ada Lovelace","mail":"ada@example.com"}}}`,
			id.New("n"), 1+i%12, 1+i%28, i, strings.Repeat("some words of text ", 12), i, i%7)
	}
	return lines(texts...)
}

// rate runs do for each of the chunks, eight or one of them at a time, and returns
// how many rows a second came of it.
func rate[T any](f *fixture, at int, chunks []T, rows int, do func(worker int, chunk T) error) float64 {
	f.Helper()
	next := make(chan T, len(chunks))
	for _, c := range chunks {
		next <- c
	}
	close(next)
	begin := time.Now()
	var wg sync.WaitGroup
	for w := range at {
		wg.Go(func() {
			for c := range next {
				if err := do(w, c); err != nil {
					f.Error(err)
				}
			}
		})
	}
	wg.Wait()
	return float64(len(chunks)*rows) / time.Since(begin).Seconds()
}

// one is a writer of its own owner.
type one struct{ *fixture }

func (f *fixture) ones(n int) (out []one) {
	for range n {
		o := *f
		o.Owner = dbtest.Owner(f.T, f.Store, "ada").ID
		o.connection = o.connect(o.Owner, sources.Active)
		o.write(`{"stream":"notes","data":{"id":"first"}}`)
		out = append(out, one{&o})
	}
	return out
}

func (o one) write(chunk []records.Line) error {
	return o.Try(func(q model.Querier) error {
		_, err := records.Write(o.Context(), q, o.Now, o.target(), chunk)
		return err
	})
}

func (o one) insert(b bare) error {
	return o.Try(func(q model.Querier) error {
		b.rows.OwnerID, b.rows.ConnectionID, b.days.OwnerID, b.days.ConnectionID = o.Owner, o.connection, o.Owner, o.connection
		_, err := q.RecordInsertMany(o.Context(), *b.rows)
		if err == nil {
			_, err = q.DayCountAddMany(o.Context(), *b.days)
		}
		return err
	})
}

// The rate of Write beside that of its bare sets of rows, in turns, for chunks of
// several sizes, one owner and eight.
func TestSoakRateOfWrite(t *testing.T) {
	for _, engine := range []string{store.Postgres, store.SQLite} {
		s := dbtest.Open(t, store.Config{URL: dbtest.Fresh(t, engine), Durability: store.Full, MaxConns: 16})
		f := newFixture(t, s)
		for _, size := range []struct{ rows, chunks int }{{1, 400}, {100, 60}, {1000, 16}} {
			for _, owners := range []int{1, 8} {
				f.compare(f.ones(owners), size.rows, size.chunks)
			}
		}
		sameOwner(f)
	}
}

// compare measures A B A B.
func (f *fixture) compare(ones []one, rows, chunks int) {
	f.Helper()
	var got, floor [2]float64
	for round := range got {
		var whole [][]records.Line
		var sets []bare
		for range chunks {
			whole, sets = append(whole, fresh(rows)), append(sets, f.bareOf(fresh(rows)))
		}
		got[round] = rate(f, len(ones), whole, rows, func(w int, c []records.Line) error { return ones[w].write(c) })
		floor[round] = rate(f, len(ones), sets, rows, func(w int, b bare) error { return ones[w].insert(b) })
	}
	share := (got[0] + got[1]) / (floor[0] + floor[1])
	f.Logf("%s, %d owners, chunks of %d: %.0f %.0f rows/s, bare %.0f %.0f: %.0f %%", f.Store.Engine(), len(ones), rows, got[0], got[1], floor[0], floor[1], 100*share)
	if rows == records.MaxChunkLines && share < 0.6 {
		f.Errorf("chunks of %d are written at %.0f %% of the rate of their bare sets", rows, 100*share)
	}
}

// sameOwner measures what the owner's sequence costs: eight connections of one
// owner, which share it, beside eight owners.
func sameOwner(f *fixture) {
	f.Helper()
	apart, shared := f.ones(8), f.ones(8)
	for i := range shared {
		shared[i].Owner = shared[0].Owner
		shared[i].connection = shared[i].connect(shared[0].Owner, sources.Active)
	}
	for _, size := range []struct{ rows, chunks int }{{1, 800}, {100, 120}, {1000, 24}} {
		var a, b float64
		for range 2 {
			whole, more := make([][]records.Line, size.chunks), make([][]records.Line, size.chunks)
			for i := range whole {
				whole[i], more[i] = fresh(size.rows), fresh(size.rows)
			}
			a += rate(f, 8, whole, size.rows, func(w int, c []records.Line) error { return apart[w].write(c) }) / 2
			b += rate(f, 8, more, size.rows, func(w int, c []records.Line) error { return shared[w].write(c) }) / 2
		}
		f.Logf("%s, 8 writers, chunks of %d: %.0f rows/s of 8 owners, %.0f of one: %.0f %%", f.Store.Engine(), size.rows, a, b, 100*b/a)
	}
}
