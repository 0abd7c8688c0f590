package web

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

type saying struct {
	Said  CleanText `json:"said,omitempty" maxBytes:"30" doc:"Cut at 30 bytes."`
	Whole CleanText `json:"whole,omitempty" maxBytes:"body"`
	Plain string    `json:"plain,omitempty"`
	More  []struct {
		Said CleanText `json:"said" maxBytes:"30"`
	} `json:"more,omitempty"`
}

func TestCleanTextIsMendedAndCutNotRefused(t *testing.T) {
	t.Parallel()
	a := newAPI()
	schema := a.bodySchema(typeOf[saying](), "saying")
	thirty := strings.Repeat("0123456789", 3)
	for sent, want := range map[string]string{
		`plain`:                  "plain",
		`a\u0000b`:               "a\ufffdb",
		`\ud800`:                 "\ufffd",
		`\udc00\ud83d\ude00`:     "\ufffd😀",
		`\ud83d\u0041`:           "\ufffdA",
		thirty:                   thirty,
		thirty + `1`:             thirty[:12] + "… [19 bytes cut]",
		`123456789€` + thirty:    "123456789€… [30 bytes cut]",
		`1234567890€` + thirty:   "1234567890… [33 bytes cut]", // its bound is within the character
		`\u001b[2J\u202e\u0085`:  "\x1b[2J\u202e\u0085",
		`<&>\u2028`:              "<&>\u2028",
		strings.Repeat("x", 600): strings.Repeat("x", 11) + "… [589 bytes cut]",
		`\"\\`:                   `"\`,
		``:                       "",
	} {
		s := &request{route: &route{schema: schema}}
		compact, err := a.checkBody(t.Context(), s, []byte(`{ "said" : "`+sent+`", "more":[{"said":"`+sent+`"}] }`))
		var got saying
		if err != nil || s.collected() != nil || json.Unmarshal(compact, &got) != nil {
			t.Errorf("%q: %v, %v, %q", sent, err, s.collected(), compact)
			continue
		}
		if string(got.Said) != want || len(got.More) != 1 || got.More[0].Said != got.Said {
			t.Errorf("%q became %+v, want %q", sent, got, want)
		}
	}
}

func TestOnlyCleanTextIsMended(t *testing.T) {
	t.Parallel()
	a := newAPI()
	schema := a.bodySchema(typeOf[saying](), "saying")
	for body, want := range map[string][]string{
		`{"whole":"` + strings.Repeat(`\u0000`, 1000) + `"}`: nil,

		`{"said":null,"whole":null}`:        nil,
		`{"plain":"\u0000"}`:                {"/plain"},
		`{"said":["\u0000"]}`:               {"/said", "/said/0"},
		`{"said":7,"more":[{"said":null}]}`: {"/more/0/said", "/said"},
		`{"said":"a","said":"\u0000"}`:      {"/said"},
		`{"sa\u0000id":"a"}`:                {"/sa\x00id"},
		`{"other":"\ud800"}`:                {"/other"},
	} {
		if got := a.faulty(t, schema, body); !slices.Equal(got, want) {
			t.Errorf("%.100s: faults at %q, want %q", body, got, want)
		}
	}
	for _, body := range []string{`{"said":"` + "\xff" + `"}`, `{"said":"` + "\x00" + `"}`, `{"said":"\u00"}`, `{"said":"`} {
		s := &request{route: &route{schema: schema}}
		if _, err := a.checkBody(t.Context(), s, []byte(body)); err != nil || !s.unparsable {
			t.Errorf("%q: %v, taken for JSON", body, err)
		}
	}
}

func TestTheDocumentSaysThatATextIsCleaned(t *testing.T) {
	t.Parallel()
	schema := newAPI()
	s := resolve(schema.huma.OpenAPI().Components.Schemas, schema.bodySchema(typeOf[saying](), "saying"))
	said, whole := s.Properties["said"], s.Properties["whole"]
	if said.Type != "string" || said.MaxLength != nil || said.Description != "Cut at 30 bytes. "+cleanNote || whole.Description != cleanNote {
		t.Errorf("said %+v, whole %+v", said, whole)
	}
}
