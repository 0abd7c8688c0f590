package e2e

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stint-run/stint/server/store"
)

// TestNamesThatPeopleReadHaveOneRule: wherever a client sends one.
func TestNamesThatPeopleReadHaveOneRule(t *testing.T) {
	t.Parallel()
	c := shared(t, store.SQLite).Client
	repo := c.Post("/v1/repos", `{"forge":"github","namespace":"acme","name":"names"}`).Str("repo.id")
	proposal := func(member string) func(name string) string {
		return func(name string) string {
			sent := map[string]string{"title": `"t"`, "author": `"ada"`}
			sent[member] = name
			return fmt.Sprintf(`{"stream":"main","head":"h","title":%s,"author":%s}`, sent["title"], sent["author"])
		}
	}
	for _, tt := range []struct {
		path, pointer string
		body          func(name string) string
	}{
		{"/v1/tokens", "/name", func(name string) string { return `{"scopes":["jobs:read"],"name":` + name + `}` }},
		{"/v1/login-links", "/name", func(name string) string { return `{"name":` + name + `}` }},
		{"/v1/repos/" + repo + "/proposals", "/title", proposal("title")},
		{"/v1/repos/" + repo + "/proposals", "/author", proposal("author")},
	} {
		for _, name := range []string{"a\nb", "a\x1b[2Jb", "a\u0085b", "a\u2028b", "a\u202eb", "a\u2066b", "a\u200fb", "a\u061cb", " a", "a\u3000", "\t"} {
			text, err := json.Marshal(name)
			if err != nil {
				t.Fatal(err)
			}
			if a := c.Post(tt.path, tt.body(string(text))); a.Status != 422 || a.Len("errors") != 1 || a.Str("errors.0.pointer") != tt.pointer {
				t.Errorf("%s of %q: %s", tt.path, name, a)
			}
		}
		if a := c.Post(tt.path, tt.body(`"Ada \u200dLovelace, 日本"`)); a.Status != 201 && a.Status != 200 {
			t.Errorf("%s of a good name: %s", tt.path, a)
		}
	}
}
