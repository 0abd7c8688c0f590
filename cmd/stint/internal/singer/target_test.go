package singer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stint-run/stint/cmd/stint/internal/ingest"
)

// taken writes down what a target does, in its order.
type taken struct {
	t      *testing.T
	events []string
	reject string // a line with this text is rejected
	full   bool   // the quarantine keeps none of them
	lost   string // a batch with this text is not sent
}

func (k *taken) Declare(_ context.Context, s Schema) (bool, error) {
	k.events = append(k.events, fmt.Sprintf("declare %s %v %s", s.Stream, s.Key, s.TimeField))
	return len(s.Key) > 0, nil
}

func (k *taken) Refresh(_ context.Context, stream string) error {
	k.events = append(k.events, "refresh "+stream)
	return nil
}

func (k *taken) Send(_ context.Context, b *ingest.Batch) (*ingest.Answer, error) {
	if k.lost != "" && strings.Contains(string(b.Body), k.lost) {
		return nil, errors.New("lost")
	}
	answer := &ingest.Answer{}
	for i, line := range strings.Split(strings.TrimSuffix(string(b.Body), "\n"), "\n") {
		if k.reject != "" && strings.Contains(line, k.reject) {
			kept := `"rej_1"`
			if k.full {
				kept = "null"
			}
			rejected := fmt.Sprintf(`{"rejected":[{"index":%d,"code":"bad","rejection_id":%s}]}`, i, kept)
			if err := json.Unmarshal([]byte(rejected), answer); err != nil {
				k.t.Fatal(err)
			}
		}
		k.events = append(k.events, line)
	}
	return answer, nil
}

func (k *taken) Write(p []byte) (int, error) {
	k.events = append(k.events, "out "+strings.TrimSuffix(string(p), "\n"))
	return len(p), nil
}

// run passes the messages to a target that knows those streams.
func (k *taken) run(known map[string]Known, messages ...string) (*Target, error) {
	k.t.Helper()
	target := New(k, k, known, func(text string) { k.events = append(k.events, "note "+text) })
	lines := ingest.Lines(k.t.Context(), strings.NewReader(strings.Join(messages, "\n")), MaxMessage)
	return target, target.Run(k.t.Context(), lines)
}

func (k *taken) want(events ...string) {
	k.t.Helper()
	if !slices.Equal(k.events, events) {
		k.t.Errorf("got\n%s\nwant\n%s", strings.Join(k.events, "\n"), strings.Join(events, "\n"))
	}
}

// The messages of the specification's example, in the spellings that taps use.
func TestMessagesBecomeLines(t *testing.T) {
	k := &taken{t: t}
	_, err := k.run(nil,
		`{"type": "SCHEMA", "stream": "users", "key_properties": ["id"], "bookmark_properties": ["n", "updated_at"],`+
			` "schema": {"properties": {"n": {"type": "integer"}, "updated_at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}}}}`,
		`{"type": "record", "stream": "users", "record": {"id": 1, "x": 1.50, "name": "<é>"}, "time_extracted": "2017-11-20T16:45:33.000Z"}`,
		``,
		`{"type": "RECORD", "stream": "free", "record": {}, "version": null}`,
		`{"type": "STATE", "value": {"users": 2, "free": [1.0]}}`,
		`{"type": "WEATHER", "stream": "users"}`,
	)
	if err != nil {
		t.Error(err)
	}
	k.want(
		"declare users [id] updated_at",
		`{"stream":"users","data":{"id":1,"x":1.50,"name":"<é>"},"emitted_at":"2017-11-20T16:45:33.000Z"}`,
		"declare free [] ",
		`note line 6 of the tap: a message of the type "WEATHER" says nothing to a target`,
		`{"stream":"free","data":{}}`,
		`{"checkpoint":{"users":2,"free":[1.0]}}`,
		`out {"users":2,"free":[1.0]}`,
	)
}

const usersSchema = `{"type":"SCHEMA","stream":"u","key_properties":["id"],"schema":{}}`

// What came before a fault is durable, and its states come out; none behind it does.
func TestStateComesOutOnlyBehindWhatIsDurable(t *testing.T) {
	record := func(n int) string { return fmt.Sprintf(`{"type":"RECORD","stream":"u","record":{"id":%d}}`, n) }
	tests := map[string]struct {
		k        taken
		messages []string
		states   string
		wrong    string
	}{
		"cut off":         {messages: []string{usersSchema, record(1), `{"type":"STATE","value":1}`, record(2)[:20]}, states: "out 1", wrong: "line 4 of the tap: it breaks off in the middle"},
		"no message":      {messages: []string{`{"type":"STATE","value":1}`, `nonsense`, `{"type":"STATE","value":2}`}, states: "out 1", wrong: "line 2 of the tap: it is no message: "},
		"lost":            {k: taken{lost: `"id":2`}, messages: []string{usersSchema, record(1), `{"type":"STATE","value":1}`, usersSchema, record(2), `{"type":"STATE","value":2}`}, states: "out 1", wrong: "lost"},
		"state refused":   {k: taken{reject: `"checkpoint":2`}, messages: []string{`{"type":"STATE","value":1}`, `{"type":"STATE","value":2}`}, states: "out 1", wrong: "line 2 of the tap: the STATE was not taken: bad"},
		"record refused":  {k: taken{reject: `"id":1`}, messages: []string{usersSchema, record(1), `{"type":"STATE","value":1}`}, states: "out 1"},
		"record lost":     {k: taken{reject: `"id":2`, full: true}, messages: []string{usersSchema, record(1), `{"type":"STATE","value":1}`, usersSchema, record(2), `{"type":"STATE","value":2}`}, states: "out 1", wrong: "line 6 of the tap: a STATE behind a record that is lost: line 5 was rejected (bad)"},
		"state too large": {messages: []string{`{"type":"STATE","value":1}`, `{"type":"STATE","value":"` + strings.Repeat("x", 256<<10) + `"}`}, states: "out 1", wrong: "line 2 of the tap: a STATE of 262146 bytes"},
		"line too long":   {messages: []string{`{"type":"STATE","value":1}`, strings.Repeat("x", MaxMessage+1)}, states: "out 1", wrong: "line 2 of the tap: 4194305 bytes"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			k := tt.k
			k.t = t
			_, err := k.run(nil, tt.messages...)
			var out []string
			for _, e := range k.events {
				if strings.HasPrefix(e, "out ") {
					out = append(out, e)
				}
			}
			if k.full && slices.Contains(k.events, `{"checkpoint":2}`) {
				t.Error("the server has a checkpoint of what is lost")
			}
			if strings.Join(out, "\n") != tt.states || (err == nil) != (tt.wrong == "") || err != nil && !strings.HasPrefix(err.Error(), tt.wrong) {
				t.Errorf("states %q, error %v; want %q, %s", out, err, tt.states, tt.wrong)
			}
		})
	}
}

func TestMessageThatLacksWhatItsTypeNeedsIsRefused(t *testing.T) {
	for _, line := range []string{
		`[]`, `{}`, `{"type":1}`, `{"type":"RECORD"}`, `{"type":"RECORD","stream":"u"}`, `{"type":"RECORD","stream":"u","record":[]}`,
		`{"type":"RECORD","stream":"u","record":{},"version":"1"}`, `{"type":"RECORD","stream":"u","record":{},"time_extracted":"yesterday"}`,
		`{"type":"SCHEMA","schema":{},"key_properties":[]}`, `{"type":"SCHEMA","stream":"u","key_properties":[]}`, `{"type":"SCHEMA","stream":"u","schema":{}}`,
		`{"type":"STATE"}`, `{"type":"STATE","value":null}`, `{"type":"ACTIVATE_VERSION","stream":"u"}`, `{"type":"ACTIVATE_VERSION","version":1}`,
		`{"type":"BATCH","stream":"u","manifest":[]}`, `{"type":"STATE","value":NaN}`, `{"type":"STATE","value":1} x`,
	} {
		if m, err := parse([]byte(line)); err == nil {
			t.Errorf("%s is taken as %+v", line, m)
		}
	}
}

func TestManifestKeepsWhatThePersonWrote(t *testing.T) {
	tests := map[string]struct {
		manifest string
		schema   Schema
		want     string
	}{
		"first":              {`{}`, Schema{"a", []string{"x"}, "t"}, `{"streams":[{"name":"a","primary_key":["x"],"semantics":"mutable_state","time_field":"t"}]}`},
		"no key":             {`{"streams":[]}`, Schema{"a", []string{}, ""}, `{"streams":[{"name":"a","primary_key":[],"semantics":"append_only"}]}`},
		"another":            {`{"icon":"<1.0>","streams":[{"name":"b","order":1e0}]}`, Schema{"a", []string{}, ""}, `{"icon":"<1.0>","streams":[{"name":"b","order":1e0},{"name":"a","primary_key":[],"semantics":"append_only"}]}`},
		"a key comes":        {`{"streams":[{"name":"a","primary_key":[],"semantics":"append_only"}]}`, Schema{"a", []string{"x"}, ""}, `{"streams":[{"name":"a","primary_key":["x"],"semantics":"mutable_state"}]}`},
		"its order stays":    {`{"streams":[{"name":"a","primary_key":["y","x"],"semantics":"append_only"}]}`, Schema{"a", []string{"x", "y"}, ""}, ""},
		"the time stays":     {`{"streams":[{"name":"a","primary_key":["x"],"semantics":"mutable_state","time_field":"u"}]}`, Schema{"a", []string{"x"}, "t"}, ""},
		"the same, unspaced": {`{"streams": [ {"name":"\u0061","primary_key":[ "x"],"semantics":"mutable_state"}]}`, Schema{"a", []string{"x"}, ""}, ""},
	}
	for name, tt := range tests {
		got, changed, err := Merge(json.RawMessage(tt.manifest), tt.schema)
		want := tt.want
		if !changed {
			want = tt.manifest
		}
		if string(got) != want || changed != (tt.want != "") || err != nil {
			t.Errorf("%s: %s, %v, %v; want %s", name, got, changed, err, want)
		}
	}
}
