package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/store"
)

// tried is a block of the page that is marked, as those of docs/develop.md are:
// "try: write FILE" or "try: run".
var tried = regexp.MustCompile("(?ms)^<!-- try: (write|run)(?: (\\S+))? -->\n```\\w+\n(.*?)^```$")

// The commands of docs/sources.md work, in their order, for an owner who has nothing.
func TestPageOfSourcesWorks(t *testing.T) {
	t.Parallel()
	s := of(t, apitest.Shared(t, store.SQLite))
	docs, err := filepath.Abs("../../docs")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(docs, "sources.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(docs, filepath.Join(dir, "docs")); err != nil {
		t.Fatal(err)
	}
	blocks := tried.FindAllStringSubmatch(string(page), -1)
	if n := strings.Count(string(page), "<!-- try: "); n != len(blocks) || n < 8 {
		t.Fatalf("%d of %d marks stand over a block", len(blocks), n)
	}
	script := "set -euxo pipefail\n"
	for _, b := range blocks {
		if b[1] == "run" {
			script += b[3]
		} else if err := os.WriteFile(filepath.Join(dir, b[2]), []byte(b[3]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir, cmd.Env = dir, s.env()
	if out, err := cmd.CombinedOutput(); err != nil || !strings.HasSuffix(string(out), "\n[]\n") {
		t.Errorf("%v:\n%s", err, out)
	}
}
