package records_test

import (
	"fmt"
	"testing"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/records"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/sources"
)

// refresh starts a run that reads notes whole, and returns where its lines go.
func (f *fixture) refresh() records.Target {
	f.Helper()
	var out sources.Started
	f.Tx(func(q model.Querier) (err error) {
		out, err = sources.Start(f.Context(), q, f.Now, sources.StartIn{
			OwnerID: f.Owner, Connection: f.connection, Kind: "manual", LeaseSeconds: 60, FullRefresh: []string{"notes"},
		})
		return err
	})
	to := f.target()
	to.RunID, to.Generation = out.Run.ID, *out.Run.Generation
	return to
}

func (f *fixture) end(of records.Target, status string) {
	f.Helper()
	f.Tx(func(q model.Querier) error {
		_, err := sources.Finish(f.Context(), q, f.Now, sources.FinishIn{OwnerID: f.Owner, RunID: of.RunID, Generation: of.Generation, Status: status})
		return err
	})
}

// notes writes a note for each number, as one chunk.
func (f *fixture) notes(to records.Target, text string, from, below int) {
	f.Helper()
	var lines []string
	for i := from; i < below; i++ {
		lines = append(lines, fmt.Sprintf(`{"stream":"notes","data":{"id":"n%04d","text":%q}}`, i, text))
	}
	if _, err := f.tryWrite(to, lines...); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) removed(want int) {
	f.Helper()
	if n, err := records.RemoveUnseen(f.Context(), f.Store); n != want || err != nil {
		f.Errorf("removed %d, %v; want %d", n, err, want)
	}
	f.recount()
}

func TestRefreshRemovesExactlyWhatASucceededRunDidNotSee(t *testing.T) {
	eachWhole(t, func(f *fixture) {
		f.notes(f.target(), "old", 0, 1000)
		f.notes(f.target(), "old", 1000, 1100)
		f.write(`{"stream":"people","data":{"id":"p"}}`, `{"stream":"notes","op":"delete","key":"n0001"}`)
		for _, status := range []string{runs.Failed, runs.SucceededWithGaps, runs.Cancelled} {
			to := f.refresh()
			f.notes(to, "old", 0, 1)
			f.end(to, status)
			f.removed(0)
		}
		to := f.refresh()
		f.notes(to, "old", 100, 200)   // as they were
		f.notes(to, "new", 200, 300)   // changed
		f.notes(to, "new", 2000, 2001) // not there before
		f.end(to, runs.Succeeded)
		f.notes(f.target(), "old", 400, 401) // between the end and the removal
		n, err := records.RemoveBatch(f.Context(), f.Store)
		if err != nil || n != 1000-1-200-1 {
			f.Errorf("the first batch removed %d, %v", n, err)
		}
		f.notes(f.target(), "old", 1050, 1051) // while it is under way, after a kill
		f.notes(f.target(), "back", 5, 6)
		f.removed(100 - 1)
		if n := f.count("records", "stream = 'notes' and deleted_at is null"); n != 100+100+1+1+1+1 {
			f.Errorf("%d notes are left", n)
		}
		for key, gone := range map[string]bool{"n0000": true, "n0005": false, "n0150": false, "n0250": false, "n0400": false, "n1050": false, "n1051": true, "n2000": false} {
			if r := f.record("notes", key); r.Deleted != gone {
				f.Errorf("%s is deleted: %v", key, r.Deleted)
			}
		}
		if f.record("people", "p").Deleted || f.count("partitions", "refresh_state is not null") != 0 {
			f.Error("another stream was refreshed, or the refresh has not ended")
		}
		f.removed(0)
	})
}
