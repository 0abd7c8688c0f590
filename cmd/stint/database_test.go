package main

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// onDatabase are commands that work on the database itself.
var onDatabase = []string{
	"token create --owner o --scopes admin", "token list --owner o", "token revoke tok_1 --owner o",
	"login --owner o", "login list --owner o", "migrate status", "migrate plan", "migrate verify", "backup create b", "doctor", "fsck",
}

// No waiting makes a database, as a name that is misspelt shows.
func TestADatabaseThatDoesNotExistIsNoMatterOfTime(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(dbtest.Empty(t, store.Postgres))
	if err != nil {
		t.Fatal(err)
	}
	u.Path += "_none"
	for _, line := range onDatabase {
		_, stderr, code := command(t, []string{"STINT_DB=" + u.String()}, strings.Fields(line)...)
		if code != exitFailed || !strings.Contains(stderr, u.Path[1:]+`" does not exist`) {
			t.Errorf("stint %s: exit %d %q", line, code, stderr)
		}
		if !strings.HasPrefix(line, "backup") && !strings.Contains(stderr, "does not exist: stint migrate up makes it\n") {
			t.Errorf("stint %s does not tell the way out: %q", line, stderr)
		}
	}
}

func TestAURLThatNamesNoDatabaseIsTheCommandLinesFault(t *testing.T) {
	t.Parallel()
	for _, line := range append(onDatabase, "migrate up", "bench --jobs 1", "serve --addr 127.0.0.1:0 --admin-addr=") {
		for _, db := range []string{"sqlite:", "sqlite::memory:", "postgres://h:port/db"} {
			if _, stderr, code := command(t, []string{"STINT_DB=" + db}, strings.Fields(line)...); code != exitUsage {
				t.Errorf("stint %s on %s: exit %d %q", line, db, code, stderr)
			}
		}
	}
}
