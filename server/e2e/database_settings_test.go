package e2e

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// TestTheListeningConnectionGoesWhereItsFlagSays: it alone, and those of the pool
// where --db says.
func TestTheListeningConnectionGoesWhereItsFlagSays(t *testing.T) {
	t.Parallel()
	s := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.Postgres)})
	p := startOn(t, s, "--db-listen", dbtest.URLOf(t, s)+"&application_name=hears")
	const named = "select application_name from pg_stat_activity where datname = current_database() and query ilike 'listen %'"
	apitest.Await(t, "a session that listens", func() bool { return len(p.db.query(named)) > 0 })
	for _, row := range p.db.query(named) {
		if name := row[0].(string); !strings.HasPrefix(name, "hears/") {
			t.Errorf("the session %s listens", name)
		}
	}
	others := p.db.query("select count(*) from pg_stat_activity where datname = current_database() and application_name like 'hears/%'")
	if n := others[0][0].(int64); n != 1 {
		t.Errorf("%d sessions go where --db-listen says", n)
	}
}

// TestWordsThatTheStoreDoesNotKnowEndServe: what they change is seen within the
// store's own tests; here, that they reach it.
func TestWordsThatTheStoreDoesNotKnowEndServe(t *testing.T) {
	t.Parallel()
	taken := httptest.NewServer(nil) // a build that serves nevertheless ends at once
	defer taken.Close()
	for flag, tt := range map[string]struct{ engine, word, says string }{
		"--sqlite-durability": {store.SQLite, "off", `durability "off" is neither full nor normal`},
		"--pg-exec-mode":      {store.Postgres, "describe_exec", `exec mode "describe_exec" is none of cache_statement`},
	} {
		addr := strings.TrimPrefix(taken.URL, "http://")
		_, errs, code := stint(t, nil, "serve", "--addr", addr, "--admin-addr", "", "--db", dbtest.Whole(t, tt.engine), flag, tt.word)
		if code != 2 || !strings.Contains(errs, tt.says) {
			t.Errorf("%s: exit code %d, %s", flag, code, errs)
		}
	}
}
