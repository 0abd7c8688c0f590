package sources_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/sources"
)

func TestASelectorNamesOneConnection(t *testing.T) {
	each(t, func(d *fixture) {
		resolved := func(selector, want, code string) {
			d.Helper()
			got, err := sources.Resolve(d.Context(), d.Store, d.Owner, selector)
			if code != "" {
				d.fault(err, code)
			} else if err != nil || got.ID != want {
				d.Errorf("%s is %s, %v; want %s", selector, got.ID, err, want)
			}
		}
		resolved("books", "", "not_found")
		ada := d.connect(sources.ConnectionIn{BindingKey: "ada"})
		resolved("books", ada.ID, "")
		resolved(ada.ID, ada.ID, "")
		bob := d.connect(sources.ConnectionIn{BindingKey: "bob", Status: sources.Draft})
		_, err := sources.Resolve(d.Context(), d.Store, d.Owner, "books")
		if diff := cmp.Diff(map[string]any{"connections": map[string]any{"value": 2, "at_least": false}}, d.fault(err, "ambiguous").Members); diff != "" {
			d.Errorf("(-want +got)\n%s", diff)
		}
		d.move(ada.ID, sources.Revoked)
		resolved("books", bob.ID, "")
		resolved(ada.ID, ada.ID, "")
		d.Owner = dbtest.Owner(d.T, d.Store, "another").ID
		resolved(ada.ID, "", "not_found")
		resolved("books", "", "not_found")
	})
}

// Every status, and every move from it.
func TestTransitionsOfAConnection(t *testing.T) {
	each(t, func(d *fixture) {
		for _, from := range sources.Statuses {
			for _, to := range []string{sources.Active, sources.Paused, sources.Revoked} {
				c := d.connect(sources.ConnectionIn{BindingKey: from + to, Status: map[bool]string{true: sources.Draft}[from == sources.Draft]})
				if c.Status != from {
					c = d.move(c.ID, from)
				}
				was := d.Now
				d.Pass(time.Second)
				got, err := d.tryMove(c.ID, to)
				switch {
				case from == sources.Revoked && to != from || from == sources.Draft && to != sources.Revoked:
					if f := d.fault(err, "state_conflict"); f.Members["state"] != from || f.Members["connection_id"] != c.ID {
						d.Errorf("%s to %s: %v", from, to, f.Members)
					}
				case err != nil:
					d.Errorf("%s to %s: %v", from, to, err)
				case from == to:
					if diff := cmp.Diff(c, got); diff != "" {
						d.Errorf("%s again (-was +is)\n%s", to, diff)
					}
				default:
					want, mover := c, "mover"
					want.Status, want.Version, want.Actor, want.ActedAt, want.UpdatedAt = to, c.Version+1, &mover, d.Now, d.Now
					if to == sources.Revoked {
						want.RevokedAt = d.Now
					}
					if diff := cmp.Diff(want, got); diff != "" || !was.Before(d.Now) {
						d.Errorf("%s to %s (-want +got)\n%s", from, to, diff)
					}
				}
			}
		}
	})
}

func TestARenameNeedsTheVersionThatIs(t *testing.T) {
	each(t, func(d *fixture) {
		c := d.connect(sources.ConnectionIn{DisplayName: "Mine"})
		rename := func(name string, seen int64) (got model.Connection, err error) {
			err = d.Try(func(q model.Querier) error {
				got, err = sources.Rename(d.Context(), q, d.Now, sources.RenameIn{OwnerID: d.Owner, Selector: "books", DisplayName: name, Actor: "namer", Match: version(seen)})
				return err
			})
			return got, err
		}
		if got, err := rename("Ours", 1); err != nil || got.DisplayName != "Ours" || got.Version != 2 || *got.Actor != "namer" {
			d.Errorf("%+v, %v", got, err)
		}
		_, err := rename("Theirs", 1)
		d.fault(err, "precondition_failed")
		if got, err := rename("Ours", 2); err != nil || got.Version != 2 {
			d.Errorf("the same name: version %d, %v", got.Version, err)
		}
		if got := d.get(c.ID); got.DisplayName != "Ours" {
			d.Errorf("it is %q", got.DisplayName)
		}
	})
}

func TestWhatAConnectionBringsEndsItsDraft(t *testing.T) {
	each(t, func(d *fixture) {
		draft := d.connect(sources.ConnectionIn{Status: sources.Draft})
		d.Pass(time.Second)
		for range 2 {
			if c, err := d.write(draft.ID); err != nil || c.Status != sources.Active || c.Version != 2 || c.UpdatedAt != d.Now {
				d.Errorf("%+v, %v", c, err)
			}
		}
		d.Tx(func(q model.Querier) error { return sources.Ingested(d.Context(), q, d.Now, d.Owner, draft.ID) })
		accept(d, draft.ID, "phone", "b1")
		accept(d, draft.ID, "phone", "b2")
		got := d.get(draft.ID)
		if got.Heads.LastIngestAt != d.Now || got.Heads.Revision != 2 || len(got.Devices) != 1 || *got.Devices[0].LastBatchID != "b2" {
			d.Errorf("%+v, %+v", got.Heads, got.Devices)
		}
		d.move(draft.ID, sources.Paused)
		if c, err := d.write(draft.ID); err != nil || c.Status != sources.Paused {
			d.Errorf("paused: %+v, %v", c, err)
		}
		d.move(draft.ID, sources.Revoked)
		_, err := d.write(draft.ID)
		if f := d.fault(err, "connection_revoked"); f.Members["connection_id"] != draft.ID {
			d.Errorf("%v", f.Members)
		}
	})
}

func TestTheActiveRunEndsWithItsConnection(t *testing.T) {
	eachRunning(t, func(d *running) {
		revoked := d.start(d.in(""))
		f := &fixture{d.Fixture}
		f.move(d.connection, sources.Revoked)
		d.recount()
		d.ended(revoked.ID, runs.ReasonRevoked)

		d.connection = d.connect("two")
		deleted := d.start(d.in(""))
		f.delete(d.connection)
		d.ended(deleted.ID, runs.ReasonDeleted)
	})
}

// ended checks that a run was cancelled for a reason.
func (d *running) ended(runID, reason string) {
	d.Helper()
	run, err := runs.Get(d.Context(), d.Store, d.Owner, runID)
	if err != nil || run.Status != runs.Cancelled || run.TerminalReason == nil || *run.TerminalReason != reason {
		d.Errorf("%+v, %v; want cancelled, %s", run, err, reason)
	}
}
