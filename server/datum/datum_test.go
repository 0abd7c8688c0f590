package datum_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stint-run/stint/server/datum"
)

func of(t testing.TB, text string) datum.Datum {
	t.Helper()
	d, err := datum.Of([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return d
}

func TestHashIsOfTheStructure(t *testing.T) {
	t.Parallel()
	digits := "1234567890123456789012345678901234567890"
	for _, same := range [][]string{
		{`{}`, ` { } `},
		{`{"a":1,"b":{"c":[1,2],"d":null}}`, `{"b":{"d":null,"c":[1,2]},"a":1}`, "{ \"b\" : {\n\"d\":null,\t\"c\":[ 1 , 2 ] } , \"a\":1 }"},
		{`{"a":1}`, `{"a":1.0}`, `{"a":1e0}`, `{"a":10E-1}`, `{"a":0.1e+1}`, `{"\u0061":1}`},
		{`{"a":0}`, `{"a":-0}`, `{"a":0.0}`, `{"a":0e5}`},
		{`{"a":"ü/"}`, `{"a":"\u00fc\/"}`},
		{`{"a":` + digits + `}`, `{"a":` + digits + `.0}`, `{"a":123456789012345678901234567890123456789e1}`},
		{`{"a":1e99999999999999999999}`, `{"a":10e99999999999999999998}`},
	} {
		for _, text := range same[1:] {
			if of(t, text).Hash != of(t, same[0]).Hash {
				t.Errorf("%s and %s have different hashes", same[0], text)
			}
		}
	}
	different := []string{
		`{}`, `{"a":null}`, `{"a":false}`, `{"a":true}`, `{"a":0}`, `{"a":""}`, `{"a":[]}`, `{"a":{}}`, `{"a":[[]]}`, `{"a":[1,2]}`, `{"a":[2,1]}`, `{"a":[12]}`,
		`{"a":1}`, `{"a":-1}`, `{"a":"1"}`, `{"a":10}`, `{"a":0.1}`, `{"b":1}`, `{"A":1}`, `{"a":1,"b":1}`, `{"a":{"b":1}}`, `{"a":[{"b":1}]}`, `{"a":{},"b":1}`,
		`{"a":` + digits + `}`, `{"a":1234567890123456789012345678901234567891}`, `{"a":"x","b":"y"}`, `{"a":"xsb"}`, `{"a":"é"}`, `{"a":"e\u0301"}`,
		`{"a":1e99999999999999999999}`, `{"a":1e99999999999999999998}`, `{"a":1e-99999999999999999999}`,
	}
	seen := map[string]string{}
	for _, text := range different {
		hash := of(t, text).Hash
		if other, ok := seen[hash]; ok {
			t.Errorf("%s and %s have one hash", text, other)
		}
		if seen[hash] = text; len(hash) != 32 {
			t.Errorf("the hash of %s is %q", text, hash)
		}
	}
}

// A hash that changed with a release would make a version of every record.
func TestHashIsThatOfEarlierReleases(t *testing.T) {
	t.Parallel()
	const data = `{"id":7,"tags":["x","y",{"deep":-12.5e3}],"none":null,"on":true,"name":"Änne"}`
	if got := of(t, data).Hash; got != "p_7j1VQSMqGiiyqqpyhqwWYGDMprA-uO" {
		t.Errorf("the hash is %s", got)
	}
}

func TestDataThatIsNoObjectIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{``, `1`, `[]`, `"a"`, `null`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,}`, `{"a":1}}`, `{a:1}`, `{"a":tru}`, `{"a" 1}`, `{"a":"b`, `{"a":[1 2]}`} {
		if _, err := datum.Of([]byte(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestKeyIsMadeOfItsFields(t *testing.T) {
	t.Parallel()
	const long = "1234567890123456789012345678901234567890"
	const data = `{"id":"a/b","n":7.0,"big":` + long + `,"huge":1e400,"small":-0.00250,"yes":true,"e":"","nul":null,"o":{},"l":[],"q":"x\"<\u00fc>","hundred":1e2}`
	tests := map[string]string{ // fields → key, or ! and what the error says
		"id": "a/b", "n": "7", "big": long, "huge": "1e400", "small": "-0.0025", "yes": "true", "hundred": "100", "q": `x"<ü>`,
		"id,n": `["a/b","7"]`, "q,id": `["x\"<ü>","a/b"]`, "e,n": `["","7"]`,
		"gone": "!gone is absent", "id,gone": "!gone is absent", "nul": "!nul is null", "o": "!o is an object", "l": "!l is an array", "e": "!e is empty",
		"ID": "!ID is absent",
	}
	d := of(t, data)
	for fields, want := range tests {
		got, err := d.Key(strings.Split(fields, ","))
		if wrong, refused := strings.CutPrefix(want, "!"); refused {
			if err == nil || !strings.HasSuffix(err.Error(), wrong) {
				t.Errorf("%s: %q, %v; want an error %s", fields, got, err, wrong)
			}
		} else if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", fields, got, err, want)
		}
	}
	if got, err := d.Key(nil); got != d.Hash || err != nil {
		t.Errorf("without fields the key is %q, %v", got, err)
	}
}

func TestKeyOfAClientIsBroughtIntoOneForm(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		key    string
		fields int
		want   string
	}{
		{"a", 1, "a"}, {`["a"]`, 1, `["a"]`}, {`[ "a",  "\u00fc" ]`, 2, `["a","ü"]`},
		{"a", 2, ""}, {`["a"]`, 2, ""}, {`["a",1]`, 2, ""}, {`["a",null]`, 2, ""}, {`["a","b"]x`, 2, ""},
		{`["\ud800","x"]`, 2, ""}, {`["\uFFFD","x"]`, 2, `["�","x"]`}, {`["�","x"]`, 2, `["�","x"]`}, {`["\ud83d\ude00","x"]`, 2, `["😀","x"]`},
	} {
		got, err := datum.NormalKey(tt.key, tt.fields)
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%s of %d is %q, %v; want %q", tt.key, tt.fields, got, err, tt.want)
		}
	}
}

func TestSearchTextIsFoldedAndCutAtACharacter(t *testing.T) {
	t.Parallel()
	got := of(t, `{"b":"ÄNNE Straße","a":{"n":[12.50,true,null,"ſK"]},"e":""}`).Search
	if want := "änne straße\n12.50\nsk"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if datum.Fold("ÄNNE ΣΑΣ K") != datum.Fold("änne σας k") {
		t.Error("case makes a difference")
	}
	for pad := range 4 {
		text := of(t, `{"a":"`+strings.Repeat("x", pad)+strings.Repeat("€", 2000)+`","b":"c"}`).Search
		if !utf8.ValidString(text) || strings.Contains(text, "\ufffd") || len(text) > datum.MaxSearch || len(text) < datum.MaxSearch-3 {
			t.Errorf("%d bytes, valid %v", len(text), utf8.ValidString(text))
		}
	}
}
