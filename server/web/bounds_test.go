package web_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/web"
)

// great is the size of a great body: a quarter of the bound, since what is asked
// is how the cost grows.
const great = web.BatchLimit / 4

// filled is a body of at most great bytes: head, as many parts as fit
// with commas between, tail.
func filled(head, tail string, part func(i int) string) string {
	var b strings.Builder
	b.Grow(great)
	b.WriteString(head)
	for i := 0; ; i++ {
		p := part(i)
		if b.Len()+len(p)+1+len(tail) > great {
			break
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(p)
	}
	b.WriteString(tail)
	return b.String()
}

func always(part string) func(int) string { return func(int) string { return part } }

func numbered(format string) func(int) string {
	return func(i int) string { return fmt.Sprintf(format, i) }
}

// greatBodies are small to send compressed and great to look at: what they hold,
// and a fault that is named whatever else is.
var greatBodies = []struct {
	name, body, pointer string
}{
	{"ones", filled(`{"items":[`, `]}`, always("1")), "/items"},
	{"empty items", filled(`{"items":[`, `]}`, always("{}")), "/items"},
	{"good items", filled(`{"items":[`, `]}`, always(`{"kind":"a"}`)), "/items"},
	{"items of unknown members", filled(`{"items":[`, `]}`, always(`{"a":1,"b":2}`)), "/items"},
	{"list without a bound of its own", filled(`{"items":[{"kind":"a"}],"words":[`, `]}`, always(`""`)), "/words"},
	{"list in place of a text", filled(`{"items":[{"kind":[`, `]}]}`, always("[]")), "/items/0/kind"},
	{"no object", filled(`[`, `]`, always("1")), ""},
	{"unknown members", filled(`{"items":[],`, `}`, numbered(`"m%d":1`)), "/m0"},
	{"one unknown member", filled(`{"x":{`, `}}`, numbered(`"%d":1`)), "/x"},
	{"unknown member of objects", filled(`{"x":[`, `]}`, always(`{"a":1}`)), "/x"},
	{"deep unknown members", filled(`{`, `}`, numbered(`"m%d":[[[[[[[[{"a":{"a":{}}}]]]]]]]]`)), "/m0"},
	{"repeated member", filled(`{`, `}`, always(`"items":[1,1,1,1]`)), "/items"},
	{"repeated unknown member", filled(`{`, `}`, always(`"x":1`)), "/x"},
	{"payload of members", filled(`{"items":[{"kind":"a","payload":{`, `}}]}`, numbered(`"%d":1`)), "/items/0/payload"},
	{"payload of repeated members", filled(`{"items":[{"kind":"a","payload":[`, `]}]}`, always(`{"a":1,"a":1}`)), "/items/0/payload/0/a"},
	{"payloads within their bound", filled(`{"items":[{"kind":1},`, `]}`,
		always(`{"kind":"a","payload":[`+strings.Repeat(`{"d":0},`, 30_000)+`0]}`)), "/items/0/kind"},
}

// TestGreatBodiesCostLittle counts what a whole request allocates, on both sides
// of the connection.
func TestGreatBodiesCostLittle(t *testing.T) {
	e := one(t, web.Config{})
	for _, tt := range greatBodies {
		t.Run(tt.name, func(t *testing.T) {
			zipped := zip(t, []byte(tt.body))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got := e.do(t, "POST", "/v1/things/batch", zipped, "Content-Encoding", "gzip")
			runtime.ReadMemStats(&after)
			if got.Status != 422 {
				t.Fatalf("status %d: %.300s", got.Status, got.body)
			}
			named := false
			errs := got.problem(t).Errors
			for _, item := range errs {
				named = named || item.Pointer == tt.pointer
			}
			if !named || len(errs) > 1000 {
				t.Errorf("%d faults, %q among them: %t", len(errs), tt.pointer, named)
			}
			times := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(tt.body))
			t.Logf("%d faults, %.1f times the body", len(errs), times)
			if times > 20 {
				t.Errorf("%.1f times the body was allocated", times)
			}
		})
	}
}

// TestFaultsBesideTooManyItemsAreNamed: items up to the bound are checked, those
// beyond it are not.
func TestFaultsBesideTooManyItemsAreNamed(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	for _, tt := range []struct{ body, pointers string }{
		{`{"kind":"A","items":[{"kind":"a"},{"kind":"A"},{"kind":"a"},{"kind":"A"},{"x":1}],"note":1}`, "body:/items body:/items/1/kind body:/kind body:/note"},
		{`{"items":[1,1,1,{"a":1,"a":2}],"kind":"a"}`, "body:/items body:/items/0 body:/items/1 body:/items/2"},
		{`{"kind":"a","kind":["\u0000"],"x":{"y":1,"y":"\ud800"}}`, "body:/kind body:/kind/0 body:/x body:/x/y"},
	} {
		if got := e.do(t, "POST", "/v1/things", tt.body); got.Status != 422 || got.pointers(t) != tt.pointers {
			t.Errorf("%s: status %d, faults %q", tt.body, got.Status, got.pointers(t))
		}
	}
	if got := e.do(t, "POST", "/v1/things", `{"kind":"a","items":[1,1,1,1,1,tru]}`); got.Status != 400 {
		t.Errorf("broken text beyond the bound: status %d", got.Status)
	}
	if got := e.do(t, "POST", "/v1/things/batch", `{"items":[],"names":[{},{}]}`); got.Status != 422 {
		t.Errorf("objects in a set: status %d", got.Status)
	}
}
