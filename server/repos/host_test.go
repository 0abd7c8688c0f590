package repos

import (
	"slices"
	"strings"
	"testing"
)

func TestEverySpellingOfAHostIsOne(t *testing.T) {
	t.Parallel()
	for host, spelled := range map[string][]string{
		"github.com":           {"GitHub.com", "github.com:443", "github.com:80", "github.com:22", "www.github.com", "WWW.github.com:443", "ssh.github.com", "ssh.github.com:443", "api.github.com"},
		"gitlab.com":           {"www.gitlab.com", "altssh.gitlab.com:443", "gitlab.com:443"},
		"git.example.com":      {"git.example.com:443", "GIT.example.com:443", "git.example.com:22"},
		"git.example.com:3000": {"Git.Example.com:3000"},
		"www.example.com":      nil,
		"github.com:8443":      {"www.github.com:8443"},
		"127.0.0.1:3000":       nil,
		"127.0.0.1":            {"127.0.0.1:443"},
		"git":                  {"GIT:80"},
		"xn--bcher-kva.de":     {"XN--bcher-kva.de"},
		"h:1":                  nil,
		"h:65535":              nil,
	} {
		for _, s := range append(spelled, host) {
			if got, ok := normalHost(s); !ok || got != host {
				t.Errorf("%s is %q, %v; want %s", s, got, ok, host)
			}
		}
	}
}

func TestWhatIsNoHostIsRefused(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", ":", ":443", "h:", "h:0", "h:00", "h:0443", "h:03000", "h:65536", "h:99999", "h:100000", "h:+1", "h:-1", "h: 1", "h:443:443", "h:x",
		"a..b", ".a", "a.", "a.b.", ".", "-a.b", "a-.b", "a.-b", "a_b", "a b", "https://a.b", "a.b/", "u@a.b", "bücher.de", "a\u200b.b", "a.b\n",
		"[::1]", "[2001:db8::1]:3000", "::1", "2001:db8::1", "127.1", "127.0.0.01", "127.0.0.256", "0x7f.0.0.1", "0x7f000001", "1.2.3", "1",
		strings.Repeat("a", 64) + ".b", strings.Repeat("a.", 127) + "a", "a.0x7f",
	} {
		if got, ok := normalHost(s); ok {
			t.Errorf("%q was taken as %s", s, got)
		}
	}
}

// What was normal stays so, and the spellings that releases before told apart all
// lead to it.
func FuzzNormalHost(f *testing.F) {
	for _, seed := range []string{"github.com", "WWW.gitlab.com:443", "a.b:80", "h:22", "127.0.0.1:65535", "xn--a.b", "altssh.gitlab.com:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		host, ok := normalHost(s)
		if !ok {
			return
		}
		if again, ok := normalHost(host); !ok || again != host {
			t.Errorf("%q is %q, which is %q, %v", s, host, again, ok)
		}
		for _, other := range spellings(host) {
			if got, ok := normalHost(other); len(other) <= maxHost && (!ok || got != host) {
				t.Errorf("%q, a spelling of %q, is %q, %v", other, host, got, ok)
			}
		}
		// It is what was given, but for case, a default port and the names of a public forge.
		name, _, _ := strings.Cut(strings.ToLower(s), ":")
		kept, _, _ := strings.Cut(host, ":")
		if name != kept && !slices.Contains(otherHosts[kept], name) {
			t.Errorf("%q became %q", s, host)
		}
	})
}
