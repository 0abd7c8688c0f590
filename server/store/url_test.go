package store_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/store"
)

func TestRedactHidesEveryPassword(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"sqlite:a%20b?.db":                                "sqlite:a%20b?.db",
		"postgres://ada@db/stint":                         "postgres://ada@db/stint",
		"postgres://ada:s3cret@db/stint":                  "postgres://ada:xxxxx@db/stint",
		"postgresql://ada:s3%20cret@db:5432/stint":        "postgresql://ada:xxxxx@db:5432/stint",
		"postgres://ada:s3@cret@db/stint":                 "postgres://…",
		"postgres://ada:s3:cret@a:1,b:2/stint?x=y":        "postgres://ada:xxxxx@a:1,b:2/stint?x=y",
		"postgres://db/stint?user=ada&password=s3cret":    "postgres://db/stint?user=ada&password=xxxxx",
		"postgres://db/stint?pass%77ord=s3cret":           "postgres://db/stint?pass%77ord=xxxxx",
		"postgres://db/stint?sslpassword=s3cret&sslkey=k": "postgres://db/stint?sslpassword=xxxxx&sslkey=k",
		"postgres://ada:s3/cret@db/stint":                 "postgres://…",
		"postgres://ada:s3?cret@db/stint":                 "postgres://ada:xxxxx@db/stint",
		"postgres://ada:s3#cret@db/stint":                 "postgres://ada:xxxxx@db/stint",
		"host=db password=s3cret":                         "…",
	} {
		if got := store.Redact(raw); got != want {
			t.Errorf("Redact(%q) is %q, want %q", raw, got, want)
		}
		if strings.Contains(raw, "s3") != store.HasPassword(raw) {
			t.Errorf("HasPassword(%q) is %v", raw, store.HasPassword(raw))
		}
	}
}

// Whatever the password is made of, encoded or not, no error and no redacted
// form repeats it.
func FuzzPasswordNeverShows(f *testing.F) {
	for _, seed := range []string{"@", "/x@y", "?a", "#b", "%zz", ":", "&x=", "'", " ", "[", "\x7f", "ä"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, odd string) {
		password := "hunter" + odd + "2secret"
		for _, raw := range []string{
			"postgres://ada:" + password + "@127.0.0.1:1/stint",
			"postgres://ada:" + url.QueryEscape(password) + "@127.0.0.1:1/stint?pool_max_conns=x",
			"postgres://ada:" + url.PathEscape(password) + "@127.0.0.1:x/stint",
			"postgres://127.0.0.1:1/stint?password=" + strings.ReplaceAll(password, "&", "%26") + "&pool_max_conns=x",
		} {
			texts := []string{store.Redact(raw)}
			s, err := store.Open(t.Context(), store.Config{URL: raw})
			if err != nil {
				texts = append(texts, err.Error())
			} else {
				s.Close()
			}
			for _, text := range texts {
				if strings.Contains(text, "hunter") || strings.Contains(text, "2secret") {
					t.Errorf("%q shows a password", text)
				}
			}
			if !store.HasPassword(raw) {
				t.Errorf("HasPassword(%q) is false", raw)
			}
		}
	})
}

func TestDatabaseThatIsNeitherEngineIsRefused(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"", "mysql://ada:s3cret@db", "stint.db", "sqlite", "sqlite:", "sqlite::memory:", "sqlite://", "sqlite:a\x00b"} {
		s, err := store.Open(t.Context(), store.Config{URL: raw})
		if err == nil {
			s.Close()
			t.Errorf("%q was opened", raw)
		} else if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the error for %q shows a password: %v", raw, err)
		}
	}
}
