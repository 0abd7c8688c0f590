package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
)

var gateSeeds = []string{
	`{}`, `null`, `[]`, `"a"`, `-0`, `1e5`, `01`, `1.`, `.5`, `-`, `1e`, `tru`, `true`, `nulll`, ` { "a" : [ 1 , 2 ] } `,
	`{"a":1,"a":2}`, `{"payload":{"A":1,"a":2}}`, `{"a":"\u0000"}`, `"\ud800"`, `"\ud83d\ude00"`, `"\udc00\ud800"`, `"\u12"`, `"\x"`,
	"\"\x1f\"", "\ufeff{}", "\xff", `{"a"}`, `{"a":}`, `{,}`, `[1,]`, `{}{}`, `{"":{"":0}}`, `{"a.b[0]%":1}`, `{"payload":`,
	strings.Repeat("[", 70), strings.Repeat(`{"payload":`, 70), `{"payload":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`,
	`{"a":"` + strings.Repeat("x", 300) + `"}`, `{"\u0061":1,"a":2}`, `9223372036854775808`, `1e400`,
	`{"kind":"a","said":"a\u0000\ud800\ud83d\ude00 and more"}`, `{"kind":"a","said":"12345\u20ac"}`,
}

// FuzzGate holds the gate against encoding/json: what it lets through is valid
// JSON, means the same, and its compacted text is what json.Compact makes.
func FuzzGate(f *testing.F) {
	for _, seed := range gateSeeds {
		f.Add([]byte(seed))
	}
	a, schema := anyPayload()
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := a.parse(t.Context(), schema, body, "the body")
		if err != nil {
			if json.Valid(body) && utf8.Valid(body) {
				t.Fatalf("%q is refused: %v", body, err)
			}
			return
		}
		if got.cut {
			if len(got.faults) == 0 {
				t.Fatalf("%q is cut without a fault", body)
			}
			return
		}
		var want bytes.Buffer
		if err := json.Compact(&want, body); err != nil {
			t.Fatalf("%q is let through: %v", body, err)
		}
		if !bytes.Equal(want.Bytes(), got.compact) {
			t.Fatalf("compacted to %q, want %q", got.compact, want.Bytes())
		}
		if twice, err := a.parse(t.Context(), schema, got.compact, "the body"); err != nil || !bytes.Equal(twice.compact, got.compact) || len(twice.faults) != len(got.faults) {
			t.Fatalf("%q is checked differently when compacted: %v", body, err)
		}
		if len(got.faults) == 0 && strings.Contains(strings.ToLower(string(got.compact)), `\u0000`) && !strings.Contains(string(got.compact), `\\`) {
			t.Fatalf("NUL passes: %q", body)
		}
	})
}

// FuzzCheckBody runs the gate and a schema over any body: it never panics, and
// names places that can be read back.
func FuzzCheckBody(f *testing.F) {
	for _, seed := range gateSeeds {
		f.Add([]byte(seed))
	}
	a := newAPI()
	type inner struct {
		Kind string `json:"kind" pattern:"^[a-z]+$"`
	}
	type body struct {
		Kind    string       `json:"kind"`
		Size    int64        `json:"size,omitempty" maximum:"9"`
		Payload coltype.JSON `json:"payload,omitempty" maxBytes:"262144"`
		Items   []inner      `json:"items,omitempty"`
		Said    CleanText    `json:"said,omitempty" maxBytes:"8"`
	}
	schema := a.bodySchema(typeOf[body](), "")
	f.Fuzz(func(t *testing.T, raw []byte) {
		s := &request{route: &route{schema: schema, needBody: true}}
		compact, err := a.checkBody(t.Context(), s, raw)
		if err != nil {
			t.Fatal(err)
		}
		fl := s.collected()
		if fl == nil {
			var out body
			if err := json.Unmarshal(compact, &out); err != nil {
				t.Fatalf("%q passes and cannot be decoded: %v", raw, err)
			}
			if said := string(out.Said); len(said) > 8 || strings.Contains(said, "\x00") || !utf8.ValidString(said) {
				t.Fatalf("%q is cleaned to %q", raw, said)
			}
			return
		}
		for _, item := range fl.Errors {
			if item.In != fault.InBody || (item.Pointer != "" && item.Pointer[0] != '/') || item.Detail == "" || !utf8.ValidString(item.Pointer) {
				t.Fatalf("%q: %+v", raw, item)
			}
		}
	})
}

// FuzzTime holds badTime against encoding/json's own reading.
func FuzzTime(f *testing.F) {
	for _, seed := range []string{"2026-01-15T23:00:00Z", "2026-01-15T23:00:00.123456789+05:30", "10000-01-01T00:00:00Z", "2026-02-30T00:00:00Z", "", "Z"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, v string) {
		if badTime(v) == "" {
			checkTime(t, v)
		}
	})
}

// counted counts what is read from it.
type counted struct {
	bytes.Reader
	n int
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n += n
	return n, err
}

func TestDecompressionStopsAtTheBound(t *testing.T) {
	t.Parallel()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write(make([]byte, 64<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	src := &counted{Reader: *bytes.NewReader(zipped.Bytes())}
	body, err := readAll(src, true, 1<<20)
	if !errors.Is(err, errTooLarge) || len(body) != 1<<20+1 || src.n > zipped.Len()/4 {
		t.Errorf("%v: %d of %d bytes were read, %d came out", err, src.n, zipped.Len(), len(body))
	}
}

// newAPI is an API without routes, for the gate alone.
func newAPI() *API {
	a := &API{free: freeForm{}, clean: cleaning{}, names: names{}}
	a.huma = huma.NewAPI(a.humaConfig("test"), nil)
	return a
}

// anyPayload is the schema of an object with one free-form member.
func anyPayload() (*API, *huma.Schema) {
	a := newAPI()
	schema := a.bodySchema(typeOf[struct {
		Kind    string       `json:"kind"`
		Payload coltype.JSON `json:"payload" maxBytes:"262144"`
	}](), "any-payload")
	return a, schema
}

func BenchmarkGate(b *testing.B) {
	a, schema := anyPayload()
	for name, body := range map[string]string{
		"enqueue":   `{"kind":"implement","key":"issue-1","payload":{"title":"a b c","n":[1,2,3],"more":{"x":true}},"priority":2}`,
		"long text": `{"kind":"implement","payload":["` + strings.Repeat("x", 250<<10) + `"]}`,
		"numbers":   `{"kind":"implement","payload":[` + strings.Repeat("12345,", 40_000) + `1]}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := a.parse(b.Context(), schema, []byte(body), "the body"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestWalkEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	a, schema := anyPayload()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	body := []byte(`{"payload":[` + strings.Repeat("1,", 10_000) + `1]}`)
	if _, err := a.parse(ctx, schema, body, "the body"); !errors.Is(err, context.Canceled) {
		t.Errorf("the walk went on: %v", err)
	}
}

func TestLongListIsOneFaultAndNotDecoded(t *testing.T) {
	t.Parallel()
	a := newAPI()
	schema := a.bodySchema(typeOf[struct {
		Items []string `json:"items" maxItems:"2"`
	}](), "long-list")
	s := &request{route: &route{schema: schema}}
	compact, err := a.checkBody(t.Context(), s, []byte(`{"items":["a","b","c",{"x":1,"x":2}]}`))
	want := []fault.Item{{In: fault.InBody, Pointer: "/items", Detail: "expected at most 2 items"}}
	if err != nil || compact != nil || !slices.Equal(s.faults, want) {
		t.Errorf("%v: faults %+v, %d bytes are decoded", err, s.faults, len(compact))
	}
}
