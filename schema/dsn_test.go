package schema

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDatabaseURLsAreRead(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"sqlite:/tmp/x/stint.db":                          "sqlite:/tmp/x/stint.db",
		"sqlite:///tmp/x/stint.db":                        "sqlite:/tmp/x/stint.db",
		"sqlite:/tmp/x/a%20b?c.db":                        "sqlite:/tmp/x/a%20b?c.db",
		"postgres://h/db":                                 "postgres://h/db",
		"postgresql://u:p@h:5/db?sslmode=disable":         "postgres://h:5/db",
		"postgres://u:p%40%3A%2F%25@h1:1,h2:2/db":         "postgres://h1:1,h2:2/db",
		"postgres:///db?host=/run/pg&password=geheim":     "postgres:///db",
		"postgres://u:a:b?c#d@h/db?application_name=test": "postgres://h/db",
	} {
		at, err := locate(raw)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
		} else if got := at.target(); got != want {
			t.Errorf("%s: target %s, want %s", raw, got, want)
		}
	}
}

func TestUnreadableDatabaseURLsAreRefused(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"", "stint.db", "mysql://u:p@h/db", "sqlite:", "sqlite::memory:", "postgres:u", "sqlite:a\x00b",
		"postgres://u:pa@ss@h/db", "postgres://u:pa/ss@h/db", "postgres://u:12/ss@h/db",
		"postgres://u:p%zz@h/db", "postgres://h:port/db", "postgres://h/db?sslmode=bogus",
	} {
		_, err := Migrate(t.Context(), Options{URL: raw})
		wantRefusal(t, err, CodeBadURL)
	}
}

// Whatever a person writes as a password, escaped or not: no error shows it.
func TestNoErrorShowsAPassword(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		password := rapid.StringMatching(`[Q@:/%?#&=]{0,6}QZ[0-9]{2}XQ[Q@:/%?#&=]{0,6}`).Draw(t, "password")
		form := rapid.SampledFrom([]string{password, url.QueryEscape(password), url.PathEscape(password)}).Draw(t, "form")
		raw := "postgres://user:" + form + "@127.0.0.1:1/name"
		if rapid.Bool().Draw(t, "parameter") {
			raw = "postgres://user@127.0.0.1:1/name?password=" + form
		}
		_, err := Migrate(t.Context(), Options{URL: raw})
		if err == nil || strings.Contains(err.Error(), "QZ") || strings.Contains(err.Error(), "XQ") {
			t.Errorf("%s: %v", raw, err)
		}
	})
}

func TestAWrongServerIsOneClearLine(t *testing.T) {
	t.Parallel()
	_, err := Migrate(t.Context(), Options{URL: "postgres://u:geheim@127.0.0.1:1/db"})
	wantOneLine(t, err)
	if text := err.Error(); !strings.Contains(text, "127.0.0.1:1") || strings.Count(text, "refused") != 1 {
		t.Errorf("unclear: %v", err)
	}
	_, err = Migrate(t.Context(), Options{URL: "postgres://u@127.0.0.1:1/db?sslmode=bogus"})
	if err == nil || !strings.Contains(err.Error(), "sslmode") {
		t.Errorf("unclear: %v", err)
	}
	_, err = Migrate(t.Context(), Options{URL: "sqlite:" + t.TempDir()})
	wantOneLine(t, err)
	_, err = Migrate(t.Context(), Options{URL: "sqlite:" + t.TempDir() + "/no/such/dir.db"})
	wantOneLine(t, err)
}

func TestTwoNamesOfOneFileShareOneLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := database{engine: SQLite, url: "sqlite:" + dir + "/stint.db"}
	db.migrate(t, one)
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(dir+"/stint.db", link); err != nil {
		t.Fatal(err)
	}
	a, err := locate(db.url)
	if err != nil {
		t.Fatal(err)
	}
	b, err := locate("sqlite:" + link)
	if err != nil || a.path != b.path {
		t.Errorf("%s and %s, %v", a.path, b.path, err)
	}
}

func TestTheFilesAreForTheirOwnerOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	database{url: "sqlite:" + dir + "/stint.db"}.migrate(t, one)
	for _, name := range []string{"stint.db", "stint.db.lock"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", name, info.Mode())
		}
	}
}

func TestAPasswordInADriversErrorIsHidden(t *testing.T) {
	t.Parallel()
	at, err := locate("postgres://u:p%40%3A%2F%25w@h/db?sslpassword=k%26y")
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("p@:/%w, p%40%3A%2F%25w\n\tand k&y\n\tand k&y")
	hidden := at.hide(cause)
	if got := hidden.Error(); got != "xxxxx, xxxxx and xxxxx" {
		t.Errorf("%q", got)
	}
	if !errors.Is(hidden, cause) {
		t.Error("the chain is broken")
	}
}
