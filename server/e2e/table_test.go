package e2e

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// TestDocumentationNamesTheScopeOfEachRoute holds the table of docs/api.md against
// the routes. The matrix tests cannot: they ask the document for the scope, which
// the server makes of the same routes.
func TestDocumentationNamesTheScopeOfEachRoute(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(dbtest.Root(t), "docs", "api.md"))
	if err != nil {
		t.Fatal(err)
	}
	served := map[string]string{}
	for _, o := range operations(t, shared(t, store.SQLite).Client) {
		if strings.HasPrefix(o.path, "/v1/") {
			served[o.method+" "+o.path] = o.scope
		}
	}
	if diff := cmp.Diff(documented(string(text)), served); diff != "" {
		t.Errorf("scopes of routes (-docs/api.md +server)\n%s", diff)
	}
}

var quoted = regexp.MustCompile("`([^`]+)`")

// documented are the scopes of the table's routes, "" for any token.
func documented(text string) map[string]string {
	scopes := map[string]string{}
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !strings.Contains(cells[1], " /v1/") {
			continue
		}
		scope := strings.Trim(cells[2], " `")
		if scope == "any token" {
			scope = ""
		}
		for _, route := range routesOf(cells[1]) {
			scopes[route] = scope
		}
	}
	return scopes
}

// routesOf are the routes of a cell. A path without a method, such as /resume, is the
// route before it with another last step. Queries are left out.
func routesOf(cell string) (routes []string) {
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		switch text := m[1]; text[0] {
		case '?':
		case '/':
			routes = append(routes, path.Dir(routes[len(routes)-1])+text)
		default:
			routes = append(routes, text)
		}
	}
	return routes
}
