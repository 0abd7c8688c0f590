package records_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/records"
	"github.com/stint-run/stint/server/sources"
)

// bad are n lines that are refused, each with bytes of its own.
func bad(name string, n, size int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("no JSON %s %d %s", name, i, strings.Repeat("x", size))
	}
	return out
}

// kept is how many of the refused lines have an id.
func kept(out records.Written) (n int) {
	for _, r := range out.Rejected {
		if r.RejectionID != nil {
			n++
		}
	}
	return n
}

func TestRefusedLinesAreKeptOnceAndWithinTheQuotas(t *testing.T) {
	each(t, func(f *fixture) {
		twins := f.write("{twin", "{twin").Rejected
		if *twins[0].RejectionID != *twins[1].RejectionID {
			f.Error("the same bytes twice in a chunk have two ids")
		}
		first := f.write(bad("a", 199, 0)...)
		again := f.write(bad("a", 199, 0)...)
		for i, r := range again.Rejected {
			if *r.RejectionID != *first.Rejected[i].RejectionID {
				f.Fatalf("line %d got another id", i)
			}
		}
		if n := kept(f.write(bad("b", 100, 0)...)); n != records.MaxConnectionRejections-200 {
			f.Errorf("%d more lines of the connection are kept", n)
		}
		for range 4 { // the connections of an owner share 1,000 entries
			f.connection = f.connect(f.Owner, sources.Active)
			f.write(bad("c", 300, 0)...)
			f.recount()
		}
		if n := dbtest.Get[int64](f.T, f.Store, "select rejected_count from owner_seq where owner_id = $1", f.Owner); n != records.MaxRejections {
			f.Errorf("the owner has %d refused lines, want %d", n, records.MaxRejections)
		}
	})
}

func TestTenThousandBadLinesTakeTheRoomOfTheQuotaAndStopNoGoodOne(t *testing.T) {
	each(t, func(f *fixture) {
		total := 0
		for i := range 10 {
			out := f.write(append(bad(fmt.Sprint("n", i), 999, 0), fmt.Sprintf(`{"stream":"notes","data":{"id":%d}}`, i))...)
			if total += kept(out); out.Accepted != 1 || len(out.Rejected) != 999 {
				f.Errorf("%d accepted, %d refused", out.Accepted, len(out.Rejected))
			}
		}
		if total != records.MaxConnectionRejections || f.count("record_rejections", "true") != records.MaxConnectionRejections {
			f.Errorf("%d refused lines have an id", total)
		}
		f.recount()
	})
}

func TestQuarantineTakesSoManyBytesOfAnOwner(t *testing.T) {
	each(t, func(f *fixture) {
		if n := kept(f.write(bad("long", 12, 1<<20-100)...)); n != 10 {
			f.Errorf("%d lines of nearly 1 MiB are kept, want 10", n)
		}
		if n := kept(f.write(bad("short", 3, 0)...)); n != 3 {
			f.Errorf("%d short lines are kept, want 3", n)
		}
		long := func(size int64) records.Line {
			return records.Line{Size: size, Refused: &records.Refusal{Code: records.LineTooLarge, Detail: "the line is too long"}}
		}
		f.Tx(func(q model.Querier) error {
			out, err := records.Write(f.Context(), q, f.Now, f.target(), []records.Line{long(5 << 20), long(5<<20 + 1), long(5 << 20)})
			if kept(out) != 3 || *out.Rejected[0].RejectionID == *out.Rejected[1].RejectionID || *out.Rejected[0].RejectionID != *out.Rejected[2].RejectionID {
				f.Errorf("lines that were not held, told apart by their length: %+v", out)
			}
			return err
		})
		if n := f.count("record_rejections", "line is null and line_bytes = 5242880"); n != 1 {
			f.Error("it is not kept as one without bytes")
		}
		f.recount()
	})
}

func TestQuarantineOfAnOwnerIsFilledToTheLastByte(t *testing.T) {
	each(t, func(f *fixture) {
		f.write("{")
		dbtest.SQL(f.T, f.Store, fmt.Sprintf("update owner_seq set rejected_bytes = %d where owner_id = $1", records.MaxRejectedBytes-5), f.Owner)
		for _, tt := range []struct {
			line string
			want int
		}{{"{12345", 0}, {"{1234", 1}, {"x", 0}, {"{", 1}} { // the last one is there already
			if n := kept(f.write(tt.line)); n != tt.want {
				f.Errorf("%s: %d are kept, want %d", tt.line, n, tt.want)
			}
		}
	})
}

func TestDraftStaysOneWhenAllLinesAreRefused(t *testing.T) {
	each(t, func(f *fixture) {
		f.connection = f.connect(f.Owner, sources.Draft)
		f.write("no JSON")
		if got := dbtest.Get[string](f.T, f.Store, "select status from connections where id = $1", f.connection); got != sources.Draft {
			f.Errorf("the connection is %s", got)
		}
	})
}

// locks notes the order in which a transaction takes its locks.
type locks struct {
	model.Querier
	taken *[]string
}

func (l locks) ConnectionLock(ctx context.Context, arg model.ConnectionLockParams) (model.Connection, error) {
	*l.taken = append(*l.taken, "connection")
	return l.Querier.ConnectionLock(ctx, arg)
}

func (l locks) OwnerSeqTake(ctx context.Context, arg model.OwnerSeqTakeParams) (model.OwnerSeq, error) {
	*l.taken = append(*l.taken, "owner")
	return l.Querier.OwnerSeqTake(ctx, arg)
}

// Another order deadlocks with whoever writes lines.
func TestDiscardTakesLocksInTheOrderOfWriters(t *testing.T) {
	each(t, func(f *fixture) {
		f.write(`{`)
		for what, do := range map[string]func(q model.Querier) error{
			"write": func(q model.Querier) error {
				_, err := records.Write(f.Context(), q, f.Now, f.target(), lines(`[`, `{"stream":"notes","data":{"id":"a"}}`))
				return err
			},
			"discard": func(q model.Querier) error {
				_, err := records.Discard(f.Context(), q, f.Now, records.Of{OwnerID: f.Owner, ConnectionID: f.connection}, "")
				return err
			},
		} {
			var taken []string
			f.Tx(func(q model.Querier) error { taken = nil; return do(locks{q, &taken}) })
			if got := strings.Join(slices.Compact(taken), ", "); got != "connection, owner" {
				f.Errorf("%s locks %s", what, got)
			}
		}
	})
}
