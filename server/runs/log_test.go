package runs_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/store"
)

// printing is the running attempt of job_1.
type printing struct {
	*testing.T
	s         *store.Store
	owner, id string
}

func eachPrinting(t *testing.T, fn func(p printing)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		owner := dbtest.Owner(t, s, "ada").ID
		fn(printing{t, s, owner, open(t, s, owner, dbtest.T0, "job_1")[0]})
	})
}

func (p printing) in(seq int64, text string) runs.AppendIn {
	return runs.AppendIn{OwnerID: p.owner, JobID: "job_1", LeaseToken: "token of job_1", Seq: seq, Text: text}
}

func (p printing) try(ins ...runs.AppendIn) (last runs.Appended, err error) {
	err = p.s.Tx(p.Context(), func(q model.Querier) error {
		for _, in := range ins {
			if last, err = runs.Append(p.Context(), q, dbtest.T0, in); err != nil {
				return err
			}
		}
		return nil
	})
	return last, err
}

func (p printing) add(ins ...runs.AppendIn) runs.Appended {
	p.Helper()
	done, err := p.try(ins...)
	if err != nil {
		p.Fatal(err)
	}
	return done
}

func (p printing) log() runs.Log {
	p.Helper()
	log, err := runs.LogOf(p.Context(), p.s, p.owner, p.id)
	if err != nil {
		p.Fatal(err)
	}
	return log
}

func (p printing) rows() int {
	p.Helper()
	return dbtest.Get[int](p.T, p.s, "select count(*) from run_logs where run_id = $1", p.id)
}

func TestSeqThatIsNotAboveTheLastChangesNothing(t *testing.T) {
	eachPrinting(t, func(p printing) {
		if log := p.log(); log != (runs.Log{}) {
			p.Errorf("before anything was printed: %+v", log)
		}
		for _, tt := range []struct {
			seq       int64
			text      string
			duplicate bool
			want      string
			last      int64
		}{
			{3, "three ", false, "three ", 3},
			{3, "again ", true, "three ", 3},
			{2, "late ", true, "three ", 3},
			{9, "nine", false, "three nine", 9},
			{8, "late", true, "three nine", 9},
			{10, "", false, "three nine", 10},
		} {
			done := p.add(p.in(tt.seq, tt.text))
			if done != (runs.Appended{RunID: p.id, Seq: tt.last, Duplicate: tt.duplicate}) {
				p.Errorf("%d %q: %+v", tt.seq, tt.text, done)
			}
			want := runs.Log{Text: tt.want, Bytes: int64(len(tt.want)), Seq: tt.last, At: dbtest.T0}
			if log := p.log(); log != want {
				p.Errorf("after %d: %+v, want %+v", tt.seq, log, want)
			}
		}
	})
}

// TestLogIsTheEndOfWhatWasPrinted holds the log against the end of one long text,
// after each of many appends.
func TestLogIsTheEndOfWhatWasPrinted(t *testing.T) {
	eachPrinting(t, func(p printing) {
		r := rand.New(rand.NewPCG(1, 2))
		letters := []string{"a", "é", "€", "😀", "\n"}
		var whole strings.Builder
		for seq := int64(1); whole.Len() < 5*runs.LogBytes; seq++ {
			var text strings.Builder
			for size := 64 + r.IntN(12_000); text.Len() < size; {
				text.WriteString(letters[r.IntN(len(letters))])
			}
			whole.WriteString(text.String())
			p.add(p.in(seq, text.String()))
			want := whole.String()[max(0, whole.Len()-runs.LogBytes):]
			for !utf8.ValidString(want) {
				want = want[1:]
			}
			if log := p.log(); log.Text != want || log.Bytes != int64(whole.Len()) {
				p.Fatalf("append %d: %d of %d bytes, want the last %d of %d", seq, len(log.Text), log.Bytes, len(want), whole.Len())
			}
		}
		kept := dbtest.Get[int](p.T, p.s, "select sum(length(text)) from run_logs where run_id = $1", p.id) // in characters
		if most := runs.LogBytes + 12_000; kept > most {
			p.Errorf("%d characters are stored, at most %d bytes may be", kept, most)
		}
	})
}

// The first piece goes when none of its bytes is among the last ones.
func TestLogKeepsAPieceOfWhichOneByteCounts(t *testing.T) {
	eachPrinting(t, func(p printing) {
		first, second := strings.Repeat("a", 100), strings.Repeat("b", runs.LogBytes-1)
		p.add(p.in(1, first), p.in(2, second))
		if log := p.log(); log.Text != "a"+second {
			p.Errorf("the log has %d bytes, from %.3q on", len(log.Text), log.Text)
		}
		p.add(p.in(3, strings.Repeat("c", 64)))
		if n := p.rows(); n != 2 {
			p.Errorf("%d pieces are kept", n)
		}
	})
}

func TestManySmallPiecesMakeABoundedNumberOfRows(t *testing.T) {
	eachPrinting(t, func(p printing) {
		const n = 1_500
		ins := make([]runs.AppendIn, n)
		var whole strings.Builder
		for i := range ins {
			letter := string(rune('a' + i%26))
			whole.WriteString(letter)
			ins[i] = p.in(int64(i+1), letter)
		}
		p.add(ins...)
		log, rows := p.log(), p.rows()
		if want := whole.String()[n-1024:]; rows != 1024 || log.Text != want || log.Bytes != n {
			p.Errorf("%d rows, %d of %d bytes kept; want 1024 rows of a byte each, of %d", rows, len(log.Text), log.Bytes, n)
		}
	})
}

func TestLongTextKeepsItsEndAndTellsTheCut(t *testing.T) {
	eachPrinting(t, func(p printing) {
		text := strings.Repeat("€", 40_000) + "end" // 120,003 bytes: the cut falls within a character
		want := strings.Repeat("€", (runs.LogBytes-3)/3) + "end"
		p.add(p.in(1, "begin"))
		bytes := len("begin")
		for i, skipped := range []int{1_000, 0} { // the text before must not stand in the place of what was cut
			in := p.in(int64(i+2), text)
			in.Skipped = int64(skipped)
			if done := p.add(in); done.Cut != int64(len(text)-len(want)) {
				p.Errorf("%d bytes are cut, want %d", done.Cut, len(text)-len(want))
			}
			bytes += skipped + len(text)
			if log := p.log(); log.Text != want {
				p.Errorf("the log has %d bytes, want %d", len(log.Text), len(want))
			} else if log.Bytes != int64(bytes) {
				p.Errorf("%d bytes were printed, want %d", log.Bytes, bytes)
			}
		}
	})
}

func TestLogHasNoGap(t *testing.T) {
	eachPrinting(t, func(p printing) {
		late := p.in(2, "behind the gap, ")
		late.Skipped = 5
		p.add(p.in(1, "before"), late, p.in(3, "and on"))
		want := runs.Log{Text: "behind the gap, and on", Bytes: 6 + 5 + 16 + 6, Seq: 3, At: dbtest.T0}
		if log := p.log(); log != want {
			p.Errorf("%+v, want %+v", log, want)
		}
	})
}

func TestAppendsAtOnceAreInOneOrder(t *testing.T) {
	eachPrinting(t, func(p printing) {
		var mu sync.Mutex
		taken := map[int64]string{}
		var wait sync.WaitGroup
		for w := range 8 {
			wait.Go(func() {
				for seq := int64(1); seq <= 12; seq++ { // each seq comes from all of them
					text := strings.Repeat(string(rune('a'+w)), 100)
					done, err := p.try(p.in(seq, text))
					mu.Lock()
					if err != nil {
						p.Error(err)
					} else if !done.Duplicate {
						if taken[seq] != "" {
							p.Errorf("seq %d was taken twice", seq)
						}
						taken[seq] = text
					}
					mu.Unlock()
				}
			})
		}
		wait.Wait()
		want := ""
		for seq := int64(1); seq <= 12; seq++ {
			want += taken[seq]
		}
		if log := p.log(); log.Text != want || log.Bytes != int64(len(want)) || log.Seq != 12 {
			p.Errorf("seq %d, %d bytes: %q, want %q", log.Seq, log.Bytes, log.Text, want)
		}
	})
}

func TestLogIsItsOwnersAndGoesWithTheRun(t *testing.T) {
	eachPrinting(t, func(p printing) {
		p.add(p.in(1, "mine"))
		other := dbtest.Owner(p.T, p.s, "bob").ID
		theirs := p.in(2, "theirs")
		theirs.OwnerID = other
		if _, err := p.try(theirs); !store.NotFound(err) {
			p.Errorf("another owner's append: %v", err)
		}
		for owner, id := range map[string]string{other: p.id, p.owner: "run_x"} {
			var f *fault.Fault
			if _, err := runs.LogOf(p.Context(), p.s, owner, id); !errors.As(err, &f) || f.Code != "not_found" {
				p.Errorf("the log of %s: %v", id, err)
			}
		}
		dbtest.SQL(p.T, p.s, "delete from runs where id = $1", p.id)
		if n := p.rows(); n != 0 {
			p.Errorf("%d pieces outlive their run", n)
		}
	})
}

func TestWarningIsKeptByTheFirstEnd(t *testing.T) {
	eachPrinting(t, func(p printing) {
		warning := "half a result"
		ended, err := end(p.T, p.s, dbtest.T0, runs.EndIn{OwnerID: p.owner, JobID: "job_1", Status: runs.Succeeded, Warning: &warning})
		if err != nil || ended.Warning == nil || *ended.Warning != warning {
			p.Fatalf("%v: %v", ended.Warning, err)
		}
		if got, err := runs.Get(p.Context(), p.s, p.owner, p.id); err != nil || got.Warning == nil || *got.Warning != warning {
			p.Errorf("%v: %v", got.Warning, err)
		}
	})
}
