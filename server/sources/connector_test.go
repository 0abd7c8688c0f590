package sources_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/sources"
	"github.com/stint-run/stint/server/store"
)

func TestAManifestThatBreaksARuleIsToldByPlace(t *testing.T) {
	t.Parallel()
	stream := func(members string) string { return `{"streams":[{` + members + `}]}` }
	const good = `"name":"a","semantics":"mutable_state","primary_key":["id"]`
	many := `{"streams":[` + strings.TrimSuffix(strings.Repeat(`{},`, 201), ",") + `]}`
	for manifest, want := range map[string][]string{
		`[]`:                                   {"/m"},
		`null`:                                 {"/m"},
		`{}`:                                   {"/m/streams"},
		`{"Streams":[]}`:                       {"/m/streams"},
		`{"streams":{}}`:                       {"/m/streams"},
		`{"streams":null}`:                     {"/m/streams"},
		many:                                   {"/m/streams"},
		`{"streams":[],"display_name":"a\nb"}`: {"/m/display_name"},
		`{"streams":[],"display_name":""}`:     {"/m/display_name"},
		`{"streams":[],"display_name":"` + strings.Repeat("é", 201) + `"}`: {"/m/display_name"},
		`{"streams":[],"version":7}`:                                       {"/m/version"},
		`{"streams":[7]}`:                                                  {"/m/streams/0"},
		stream(``):                                                         {"/m/streams/0/name", "/m/streams/0/semantics", "/m/streams/0/primary_key"},
		stream(`"name":".a","semantics":"mutable","primary_key":7`):        {"/m/streams/0/name", "/m/streams/0/semantics", "/m/streams/0/primary_key"},
		stream(`"name":"` + strings.Repeat("a", 129) + `","semantics":"append_only","primary_key":[]`):           {"/m/streams/0/name"},
		`{"streams":[{` + good + `},{` + good + `}]}`:                                                            {"/m/streams/1/name"},
		stream(`"name":"a","semantics":"mutable_state","primary_key":[]`):                                        {"/m/streams/0/primary_key"},
		stream(`"name":"a","semantics":"append_only","primary_key":["1","2","3","4","5","6","7","8","9"]`):       {"/m/streams/0/primary_key"},
		stream(`"name":"a","semantics":"append_only","primary_key":["x","x","",7]`):                              {"/m/streams/0/primary_key/1", "/m/streams/0/primary_key/2", "/m/streams/0/primary_key/3"},
		stream(good + `,"time_field":""`):                                                                        {"/m/streams/0/time_field"},
		stream(good + `,"time_field":null,"label":["a"]`):                                                        {"/m/streams/0/time_field", "/m/streams/0/label"},
		stream(good + `,"label":" a"`):                                                                           {"/m/streams/0/label"},
		`{"streams":[]}`:                                                                                         nil,
		stream(good + `,"time_field":"at","label":"A","schema":{"name":7}`):                                      nil,
		stream(`"name":"_.-` + strings.Repeat("a", 125) + `","semantics":"append_only","primary_key":[]`):        nil,
		stream(`"name":"a","semantics":"append_only","primary_key":["1","2","3","4","5","6","7","8"],"Label":7`): nil,
	} {
		var got []string
		_, faults := sources.ParseManifest([]byte(manifest), "/m")
		for _, f := range faults {
			got = append(got, f.Pointer)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.80s (-want +got)\n%s", manifest, diff)
		}
	}
}

func TestAManifestReplacesTheStreamsOfItsConnector(t *testing.T) {
	each(t, func(d *fixture) {
		began := d.Now
		d.Pass(time.Second)
		_, _, err := d.tryPut("books", booksManifest, 2)
		d.fault(err, "precondition_failed")
		// Another order and other white space are the same manifest.
		same := `{ "icon":"book", "streams":[{"primary_key":["id"],"time_field":"lent_at","name":"loans","semantics":"mutable_state"}], "display_name":"Books" }`
		if c := d.put("books", same, 1); c.Version != 1 || c.UpdatedAt != began || string(c.Manifest) != booksManifest {
			d.Errorf("an equal manifest: %+v", c)
		}
		other := `{"streams":[{"name":"fines","semantics":"append_only","primary_key":[]},{"name":"loans","semantics":"append_only","primary_key":["a","b"]}]}`
		if c := d.put("books", other, 1); c.Version != 2 || c.UpdatedAt != d.Now || c.DisplayName != "books" || string(c.Manifest) != other {
			d.Errorf("another manifest: %+v", c)
		}
		want := map[string]sources.Stream{
			"fines": {Name: "fines", Semantics: sources.AppendOnly, PrimaryKey: []string{}, Label: "fines"},
			"loans": {Name: "loans", Semantics: sources.AppendOnly, PrimaryKey: []string{"a", "b"}, Label: "loans"},
		}
		got, err := sources.GetConnector(d.Context(), d.Store, d.Owner, "books")
		if diff := cmp.Diff(want, got.Streams); diff != "" || err != nil {
			d.Errorf("%v (-want +got)\n%s", err, diff)
		}
		const stayed = "select count(*) from connector_streams where owner_id = $1 and name = 'loans' and created_at < (select updated_at from connectors c where c.owner_id = connector_streams.owner_id and c.id = connector_id)"
		if n := dbtest.Get[int](d.T, d.Store, stayed, d.Owner); n != 1 {
			d.Error("the stream that stayed was made anew")
		}
		if c := d.put("books", `{"streams":[]}`, 2); c.Version != 3 {
			d.Errorf("no streams: %+v", c)
		}
		if states := d.get(d.connect(sources.ConnectionIn{}).ID).Streams; len(states) != 0 {
			d.Errorf("it has %v", states)
		}
	})
}

// What is stored was written by hand, or by another build.
func TestAManifestThatDoesNotParseHidesNoConnection(t *testing.T) {
	each(t, func(d *fixture) {
		c := d.connect(sources.ConnectionIn{})
		stored := []string{`[]`, `{"streams":7}`, `{"display_name":"x"}`}
		if d.Store.Engine() == store.SQLite {
			stored = append(stored, `no JSON`, ``)
		}
		for _, manifest := range stored {
			dbtest.SQL(d.T, d.Store, "update connectors set manifest = '"+manifest+"' where owner_id = $1", d.Owner)
			if page := walk(d, sources.ListIn{OwnerID: d.Owner}, 10); len(page) != 1 {
				d.Errorf("%q: %d connections are listed", manifest, len(page))
			}
			if got := d.get("books"); got.ID != c.ID || len(got.Streams) != 1 || got.Streams[0].Declared.Semantics != sources.MutableState {
				d.Errorf("%q: %+v", manifest, got)
			}
			if _, err := d.write(c.ID); err != nil {
				d.Errorf("%q: %v", manifest, err)
			}
			detail, err := sources.GetConnector(d.Context(), d.Store, d.Owner, "books")
			if manifest, state := sources.ShownManifest(detail); err != nil || manifest != nil || state != "unavailable" {
				d.Errorf("it is %s, %s, %v", manifest, state, err)
			}
		}
		if got := d.put("books", booksManifest, 1); got.Version != 2 || string(got.Manifest) != booksManifest {
			d.Errorf("put again: %+v", got)
		}
	})
}

func TestTwoWhoMakeAConnectorAtOnceMakeOne(t *testing.T) {
	each(t, func(d *fixture) {
		made := make(chan error, 8)
		for i := range cap(made) {
			go func() {
				_, created, err := d.tryPut("mail", fmt.Sprintf(`{"streams":[],"n":%d}`, i), 0)
				if err == nil && !created {
					err = fmt.Errorf("it was known, and version 0 named it")
				}
				made <- err
			}()
		}
		won := 0
		for range cap(made) {
			if err := <-made; err == nil {
				won++
			} else if d.fault(err, "precondition_failed") == (*fault.Fault)(nil) {
				d.Error(err)
			}
		}
		if won != 1 {
			d.Errorf("%d made it", won)
		}
	})
}

// Of those who change one version at once, one does; the others are told.
func TestOneOfManyChangesAVersionOfAManifest(t *testing.T) {
	each(t, func(d *fixture) {
		for version := range int64(3) {
			changed := make(chan error, 8)
			for i := range cap(changed) {
				go func() {
					_, _, err := d.tryPut("books", fmt.Sprintf(`{"streams":[],"by":"%d of %d"}`, i, version), version+1)
					changed <- err
				}()
			}
			done := 0
			for range cap(changed) {
				if err := <-changed; err == nil {
					done++
				} else {
					d.fault(err, "precondition_failed")
				}
			}
			if got, err := sources.GetConnector(d.Context(), d.Store, d.Owner, "books"); done != 1 || err != nil || got.Version != version+2 {
				d.Errorf("%d changes of version %d were taken, %v", done, version+1, err)
			}
		}
	})
}
