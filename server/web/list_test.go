package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/web"
)

// names is a list by name whose cursors hold the name alone: name_00 to name_19.
var names = web.ListOf[web.PageQuery, string, thingJSON]{
	Kind: "names", Order: web.ByName,
	Page: func(_ context.Context, _ model.Reader, _ *web.PageQuery, w web.Window) (page []string, last *keyset.Position, _ error) {
		for i := range 20 {
			name := fmt.Sprintf("name_%02d", i)
			switch {
			case name <= w.ID:
			case len(page) == w.Limit:
				return page, &keyset.Position{ID: page[w.Limit-1]}, nil
			default:
				page = append(page, name)
			}
		}
		return page, nil, nil
	},
	Item: func(name string, _ coltype.Time) thingJSON { return thingJSON{ID: name} },
}

// seen is a list of things 1 to seq that stays what it was when its first page
// was read. Thing n is of the second n mod 5.
func (e *edge) seen(order web.Order, sign int) web.ListOf[web.PageQuery, keyset.Position, thingJSON] {
	return web.ListOf[web.PageQuery, keyset.Position, thingJSON]{
		Kind: "seen", Order: order,
		Snapshot: func(context.Context, model.Reader, *web.PageQuery) (web.Snapshot, error) {
			return web.Snapshot{Seq: e.seq.Load(), At: dbtest.T0, Epoch: 1}, nil
		},
		Page: func(_ context.Context, _ model.Reader, _ *web.PageQuery, w web.Window) ([]keyset.Position, *keyset.Position, error) {
			if w.Snapshot.At != dbtest.T0 || w.Epoch != 1 {
				return nil, nil, fmt.Errorf("the snapshot is %+v", w.Snapshot)
			}
			page := slices.DeleteFunc(positions(w.Seq), func(p keyset.Position) bool { return sign*compare(p, w.Position) <= 0 })
			slices.SortFunc(page, func(a, b keyset.Position) int { return sign * compare(a, b) })
			if len(page) <= w.Limit {
				return page, nil, nil
			}
			return page[:w.Limit], &page[w.Limit-1], nil
		},
		Item: func(p keyset.Position, _ coltype.Time) thingJSON { return thingJSON{ID: p.ID} },
	}
}

func positions(n int64) (all []keyset.Position) {
	for i := range n {
		all = append(all, keyset.Position{At: coltype.FromMicros(dbtest.T0.UnixMicro() + (i+1)%5*1_000_000), ID: fmt.Sprintf("%02d", i+1)})
	}
	return all
}

func compare(a, b keyset.Position) int {
	if c := a.At.Compare(b.At.Time); c != 0 {
		return c
	}
	return strings.Compare(a.ID, b.ID)
}

// walk reads a list from its first page; before every later page, between runs.
func (e *edge) walk(t *testing.T, path string, between func()) (ids []string) {
	t.Helper()
	for target := path; ; between() {
		got := e.do(t, "GET", target, "")
		var p thingPage
		if err := json.Unmarshal([]byte(got.body), &p); err != nil || got.Status != 200 {
			t.Fatalf("%s: status %d, %v: %s", target, got.Status, err, got.body)
		}
		for _, item := range p.Data {
			ids = append(ids, item.ID)
		}
		if !p.HasMore {
			return ids
		}
		target = path + "&cursor=" + url.QueryEscape(*p.NextCursor)
	}
}

func TestListByNameAloneShowsEveryNameOnce(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	var want []string
	for i := range 20 {
		want = append(want, fmt.Sprintf("name_%02d", i))
	}
	if diff := cmp.Diff(want, e.walk(t, "/v1/names?limit=7", func() {})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// What comes after the first page, at whatever time, is on no page.
func TestPagesOfASnapshotShowWhatTheFirstPageSaw(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	newest := []string{"09", "04", "08", "03", "12", "07", "02", "11", "06", "01", "10", "05"}
	oldest := slices.Clone(newest)
	slices.Reverse(oldest)
	for path, want := range map[string][]string{"/v1/newest?limit=5": newest, "/v1/oldest?limit=5": oldest} {
		e.seq.Store(12)
		if diff := cmp.Diff(want, e.walk(t, path, func() { e.seq.Add(4) })); diff != "" {
			t.Errorf("%s (-want +got)\n%s", path, diff)
		}
	}
}

func TestCursorsOfOneVersionAreRefusedByTheOther(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	e.seq.Store(12)
	lists := []string{"/v1/things", "/v1/names", "/v1/newest", "/v1/oldest"}
	for _, from := range lists {
		var p thingPage
		got := e.do(t, "GET", from+"?limit=5", "")
		if err := json.Unmarshal([]byte(got.body), &p); err != nil || p.NextCursor == nil {
			t.Fatalf("%s: %v: %s", from, err, got.body)
		}
		for _, to := range lists {
			got := e.do(t, "GET", to+"?cursor="+url.QueryEscape(*p.NextCursor), "")
			switch {
			case from == to && got.Status != 200:
				t.Errorf("%s refuses its own: %s", to, got.body)
			case from != to && (got.Status != 400 || got.problem(t).Code != "invalid_cursor"):
				t.Errorf("%s takes a cursor of %s: %s", to, from, got.body)
			}
		}
	}
}
