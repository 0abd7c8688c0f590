package control_test

import (
	"strings"
	"testing"

	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// badNames are names that people would read otherwise than they are.
var badNames = map[string]string{
	"a line end": "a\nb", "a return": "a\rb", "a tab": "a\tb", "an escape": "a\x1b[31mb", "DEL": "a\x7fb", "a C1 control": "a\u0085b",
	"a line separator": "a\u2028b", "a paragraph separator": "a\u2029b", "an override": "a\u202eb", "an embedding": "a\u202ab",
	"an isolate": "a\u2066b", "the end of one": "a\u2069b", "a mark": "a\u200eb", "the other mark": "a\u200fb", "an Arabic mark": "a\u061cb",
	"nothing that is seen": "\u2800", "a joiner alone": "\u200d", "a selector alone": "\ufe0f", "a filler": "a\u3164b", "a grapheme joiner": "a\u034fb",
	"a space that nobody sees": "a\u200bb", "a byte order mark": "\ufeffa", "a tag": "a\U000e0041b",
	"a blank before": " a", "a blank after": "a ", "an ideographic blank": "a\u3000", "blanks alone": "  ",
}

func TestNamesAreOneLineThatReadsAsItIs(t *testing.T) {
	t.Parallel()
	for what, name := range badNames {
		if control.NameFault(name) == "" {
			t.Errorf("%s passes", what)
		}
	}
	for _, name := range []string{"ada", "Ada Lovelace", "größe", "日本\u3000語", "می\u200cخواهم", "👩\u200d🚀", "❤\ufe0f", "שלום", "a\u00a0b"} {
		if detail := control.NameFault(name); detail != "" {
			t.Errorf("%q: %s", name, detail)
		}
	}
}

// TestNameFromBeforeIsCleanedWhereItIsUsed: a token that was named before there was
// a rule goes on, and what it does is not signed with its bytes.
func TestNameFromBeforeIsCleanedWhereItIsUsed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		dbtest.Freeze(s)
		owner := dbtest.Owner(t, s, "ada")
		text, row := issue(t, s, control.TokenIn{OwnerID: owner.ID, Name: "ada", Scopes: []string{"admin"}})
		for stored, want := range map[string]string{"a\x1bb\nc ": "a b c", "\u202eada": "ada", " \n": row.ID} {
			dbtest.SQL(t, s, "update tokens set name = $1 where id = $2", stored, row.ID)
			if p := admitted(t, control.NewVerifier(s), text, true); p.TokenName != want || strings.ContainsAny(p.TokenName, "\x1b\n") {
				t.Errorf("%q is used as %q, want %q", stored, p.TokenName, want)
			}
		}
	})
}
