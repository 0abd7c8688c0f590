package sources_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/sources"
)

// Connections of three connectors, some of one instant and some revoked, by pages of
// every size.
func TestConnectionsAreListedByConnectorAndAge(t *testing.T) {
	each(t, func(d *fixture) {
		d.put("mail", booksManifest, 0)
		d.put("bank", booksManifest, 0)
		var want []model.Connection
		for i := range 9 {
			c := d.connect(sources.ConnectionIn{ConnectorID: []string{"mail", "bank", "books"}[i%3], BindingKey: fmt.Sprint(i)})
			if i >= 6 {
				c = d.move(c.ID, sources.Revoked)
			} else if i < 3 {
				d.Pass(time.Second)
			}
			want = append(want, c)
		}
		slices.SortFunc(want, func(a, b model.Connection) int {
			return slices.Compare([]string{a.ConnectorID, a.CreatedAt.String(), a.ID}, []string{b.ConnectorID, b.CreatedAt.String(), b.ID})
		})
		for limit := 1; limit <= 10; limit++ {
			if diff := cmp.Diff(want, walk(d, sources.ListIn{OwnerID: d.Owner}, limit)); diff != "" {
				d.Errorf("pages of %d (-want +got)\n%s", limit, diff)
			}
			if diff := cmp.Diff(want[3:6], walk(d, sources.ListIn{OwnerID: d.Owner, ConnectorID: "books"}, limit)); diff != "" {
				d.Errorf("of books, pages of %d (-want +got)\n%s", limit, diff)
			}
		}
	})
}

func walk(d *fixture, in sources.ListIn, limit int) (all []model.Connection) {
	d.Helper()
	at := keyset.Bottom()
	for {
		page, next, err := sources.List.Page(d.Context(), d.Store, in, at, limit)
		if err != nil || len(page) > limit {
			d.Fatalf("%d of at most %d, %v", len(page), limit, err)
		}
		all = append(all, page...)
		if next == nil {
			return all
		}
		at = *next
	}
}
