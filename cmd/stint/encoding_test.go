package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/dbtest"
)

// Every command that would work on the database says what is wrong with it, and
// leaves it as it is; doctor and a backup look at it all the same.
func TestDatabaseOfAnotherEncodingIsRefusedByEveryCommand(t *testing.T) {
	t.Parallel()
	db, archive := dbtest.Latin1(t), filepath.Join(t.TempDir(), "b")
	if err := os.WriteFile(archive, []byte("PGDMP"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"serve", "--addr", "127.0.0.1:0", "--admin-addr", ""},
		{"migrate", "up"}, {"migrate", "verify"},
		{"token", "create", "--owner", "ada", "--scopes", "admin"}, {"token", "list", "--owner", "ada"},
		{"login", "--owner", "ada"},
		{"backup", "restore", archive},
	} {
		_, errs, code := command(t, []string{"STINT_DB=" + db}, args...)
		if code != exitFailed || !strings.Contains(errs, "has the encoding LATIN1") || strings.Contains(errs, "failed to connect") || !strings.Contains(errs, "create database") {
			t.Errorf("%v: exit code %d, %s", args, code, errs)
		}
	}
	out, _, code := command(t, []string{"STINT_DB=" + db}, "doctor", "-o", "jsonl")
	if code != exitFailed || !strings.Contains(out, `{"id":"encoding","state":"fail","value":"LATIN1"`) {
		t.Errorf("doctor: exit code %d, %s", code, out)
	}
}
