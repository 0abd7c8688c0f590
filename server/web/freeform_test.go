package web

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stint-run/stint/schema/coltype"
)

// faulty are the places in a body that break the gate's rules or the schema.
func (a *API) faulty(t *testing.T, schema *huma.Schema, body string) (places []string) {
	t.Helper()
	s := &request{route: &route{schema: schema}}
	if _, err := a.checkBody(t.Context(), s, []byte(body)); err != nil {
		t.Fatal(err)
	}
	if f := s.collected(); f != nil {
		for _, item := range f.Errors {
			places = append(places, item.Pointer)
		}
	}
	return places
}

func lists(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

func TestFreeFormFollowsFromTheType(t *testing.T) {
	t.Parallel()
	type entry struct {
		Kind string       `json:"kind"`
		Note coltype.JSON `json:"note,omitempty" maxBytes:"16"`
	}
	a := newAPI()
	schema := a.bodySchema(typeOf[struct {
		Data    []entry                 `json:"data,omitempty"`
		Result  *entry                  `json:"result,omitempty"`
		Payload map[string]entry        `json:"payload,omitempty"`
		Extra   coltype.JSON            `json:"extra,omitempty" maxBytes:"130"`
		More    map[string]coltype.JSON `json:"more,omitempty" maxBytes:"body"`
	}](), "free-form")
	for body, want := range map[string][]string{
		`{"data":[{"kind":"a"}],"result":{"kind":"a"},"payload":{"x":{"kind":"a"}}}`: nil,

		`{"data":[{"kind":"a","any":1}]}`:                     {"/data/0/any"},
		`{"data":{"any":1}}`:                                  {"/data"},
		`{"result":{"kind":1,"any":{}}}`:                      {"/result/any", "/result/kind"},
		`{"payload":{"x":{"any":1,"kind":"a"}}}`:              {"/payload/x/any"},
		`{"data":[{"kind":"a","note":{"any":1}}]}`:            nil,
		`{"result":{"kind":"a","note":"fifteen letters"}}`:    {"/result/note"},
		`{"payload":{"x":{"kind":"a","note":{"b":1,"b":2}}}}`: {"/payload/x/note/b"},
		`{"extra":{"A":1,"a":[{"any":2}]}}`:                   nil,
		`{"extra":{"a":{"b":1,"b":2}}}`:                       {"/extra/a/b"},
		`{"extra":` + lists(maxDepth) + `}`:                   nil,
		`{"extra":"` + strings.Repeat("x", 129) + `"}`:        {"/extra"},
		`{"more":{"A":null,"a":` + lists(maxDepth-1) + `}}`:   nil,
		`{"more":{"a":"` + strings.Repeat("x", 1<<20) + `"}}`: nil,
		`{"more":{"a":[{"b":1,"b":2}]}}`:                      {"/more/a/0/b"},
		`{"more":[1]}`:                                        {"/more"},
	} {
		if got := a.faulty(t, schema, body); !slices.Equal(got, want) {
			t.Errorf("%.100s: faults at %q, want %q", body, got, want)
		}
	}
}

func TestAFreeFormOrCleanedMemberNamesItsBound(t *testing.T) {
	t.Parallel()
	for _, body := range []reflect.Type{
		typeOf[struct{ Data coltype.JSON }](),
		typeOf[struct{ Data map[string]coltype.JSON }](),
		typeOf[struct {
			Items []struct{ Data coltype.JSON }
		}](),
		typeOf[struct {
			Data coltype.JSON `maxBytes:"16 KiB"`
		}](),
		typeOf[struct {
			Data []coltype.JSON `maxBytes:"16"`
		}](),
		typeOf[struct {
			Data any `maxBytes:"16"`
		}](),
		typeOf[coltype.JSON](),
		typeOf[struct{ Said CleanText }](),
		typeOf[struct {
			Said []CleanText `maxBytes:"16"`
		}](),
		typeOf[struct {
			Said *CleanText `maxBytes:"16"`
		}](),
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is taken as a body", body)
				}
			}()
			newAPI().bodySchema(body, "unbound")
		}()
	}
}
