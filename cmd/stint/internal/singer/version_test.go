package singer

import (
	"slices"
	"strings"
	"testing"
)

// What a tap says of a version decides whether records that it did not bring are
// removed: never on the word of a run that may not have seen them all.
func TestVersionRemovesOnlyWhatARunDidNotSeeFromBeginningToEnd(t *testing.T) {
	const (
		record   = `{"type":"RECORD","stream":"u","record":{"id":1},"version":7}`
		other    = `{"type":"RECORD","stream":"u","record":{"id":2},"version":8}`
		activate = `{"type":"ACTIVATE_VERSION","stream":"u","version":7}`
		begun    = `{"stream":"u","checkpoint":{"singer_version":7,"active":false}}`
		active   = `{"stream":"u","checkpoint":{"singer_version":7,"active":true}}`
		data     = `{"stream":"u","data":{"id":1}}`
	)
	stored := func(live int64, checkpoint string) map[string]Known {
		return map[string]Known{"u": {Declared: true, Mutable: true, Live: live, Version: VersionOf([]byte(checkpoint))}}
	}
	is := func(number string, active string) string {
		return `{"singer_version":` + number + `,"active":` + active + `}`
	}
	tests := map[string]struct {
		known      map[string]Known
		messages   []string
		events     []string
		unfinished string // a part of it
		activated  string
		note       string // a part of it
	}{
		"first of all":           {stored(0, ""), []string{activate, record, activate}, []string{begun, data}, "", active, ""},
		"in front alone":         {stored(0, ""), []string{activate, record}, []string{begun, data}, "", "", ""},
		"a new one":              {stored(5, is("6", "true")), []string{record, activate}, []string{"refresh u", begun, data}, "", active, ""},
		"over what had none":     {stored(5, `{"page":4}`), []string{record, activate}, []string{"refresh u", begun, data}, "", active, ""},
		"empty by now":           {stored(5, is("6", "true")), []string{activate}, []string{"refresh u", begun}, "", active, ""},
		"new, in front alone":    {stored(5, is("6", "true")), []string{activate, record}, []string{"refresh u", begun, data}, "behind the last record", "", ""},
		"new, and not activated": {stored(5, is("6", "true")), []string{record}, []string{"refresh u", begun, data}, "behind the last record", "", ""},
		"two at once":            {stored(5, is("6", "true")), []string{record, other, activate}, []string{"refresh u", begun, data, `{"stream":"u","data":{"id":2}}`}, "more than one version", "", ""},
		"the active one":         {stored(5, is("7", "true")), []string{activate, record}, []string{data}, "", "", ""},
		"gone on with":           {stored(5, is("7", "false")), []string{record, activate}, []string{data}, "", active, "an earlier run began this version"},
		"gone on with, not done": {stored(5, is("7", "false")), []string{record}, []string{data}, "", "", ""},
		"without a key": {map[string]Known{"u": {Declared: true, Live: 5}}, []string{record, activate}, []string{begun, data}, "", active,
			"the stream is append_only"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			k := &taken{t: t}
			target, err := k.run(tt.known, tt.messages...)
			if err != nil || !slices.Equal(k.events, tt.events) {
				t.Errorf("%v, events %q; want %q", err, k.events, tt.events)
			}
			why := strings.Join(target.Unfinished(), "; ")
			if (why == "") != (tt.unfinished == "") || !strings.Contains(why, tt.unfinished) {
				t.Errorf("unfinished: %q; want %q", why, tt.unfinished)
			}
			k.events = nil
			body := ""
			if b := target.Activated(); b != nil {
				body = strings.TrimSpace(string(b.Body))
			}
			notes := strings.Join(k.events, "; ")
			if body != tt.activated || (notes == "") != (tt.note == "") || !strings.Contains(notes, tt.note) {
				t.Errorf("activated %q, notes %q; want %q, %q", body, notes, tt.activated, tt.note)
			}
		})
	}
}

func TestVersionIsOfAStreamWhoseSchemaCame(t *testing.T) {
	k := &taken{t: t}
	if _, err := k.run(nil, `{"type":"ACTIVATE_VERSION","stream":"u","version":7}`); err == nil || !strings.Contains(err.Error(), "whose SCHEMA did not come") {
		t.Error(err)
	}
}
