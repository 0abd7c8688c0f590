package plans

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

var (
	grants   = regexp.MustCompile("(?s)```sql\n(grant [^`]*)```")
	argument = regexp.MustCompile(`\$\d+`)
)

// TestGrantsOfTheDocumentationSuffice for every statement, when a server runs as a
// role that owns nothing. A plan is refused to a role without the rights to run it.
func TestGrantsOfTheDocumentationSuffice(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(dbtest.Root(t), "docs", "operations.md"))
	block := grants.FindSubmatch(text)
	if err != nil || block == nil {
		t.Fatalf("no grants in docs/operations.md: %v", err)
	}
	s := dbtest.Open(t, store.Config{URL: dbtest.Fresh(t, store.Postgres)})
	role := fmt.Sprintf("stint_app_%d_%d", os.Getpid(), time.Now().UnixNano())
	conn, err := dbtest.DB(t, s).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	run := func(query string) error {
		_, err := conn.ExecContext(t.Context(), query)
		return err
	}
	given := strings.ReplaceAll(string(block[1]), " to app;", " to "+role+";")
	if err := run("create role " + role + ";\n" + given + "set role " + role); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := run("reset role; drop owned by " + role + "; drop role " + role); err != nil {
			t.Error(err)
		}
	}()
	for name, statement := range dbtest.Statements(t, store.Postgres) {
		arguments := map[string]bool{}
		for _, a := range argument.FindAllString(statement, -1) {
			arguments[a] = true
		}
		execute := "execute " + name
		if n := len(arguments); n > 0 {
			execute += "(" + strings.Repeat("null, ", n-1) + "null)"
		}
		if err := run("prepare " + name + " as " + strings.TrimSpace(statement) + ";\nexplain " + execute); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
