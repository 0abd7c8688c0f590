package e2e

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/store"
)

// The access log names the client: what an unnamed peer says of it is ignored.
func TestForwardedHeadersCountOnlyFromTrustedProxies(t *testing.T) {
	t.Parallel()
	trusting := "--trusted-proxy=127.0.0.1,10.0.0.0/8"
	tests := map[string]struct {
		flags     []string
		forwarded string
		want      string
	}{
		"an unnamed peer":            {nil, "203.0.113.9", "127.0.0.1"},
		"another proxy is named":     {[]string{"--trusted-proxy", "192.0.2.0/24"}, "203.0.113.9", "127.0.0.1"},
		"a named peer":               {[]string{trusting}, "203.0.113.9", "203.0.113.9"},
		"a named peer without it":    {[]string{trusting}, "", "127.0.0.1"},
		"what the client made up":    {[]string{trusting}, "198.51.100.1, 203.0.113.9", "203.0.113.9"},
		"several proxies":            {[]string{trusting}, "198.51.100.1, 203.0.113.9, 10.1.2.3", "203.0.113.9"},
		"proxies alone":              {[]string{trusting}, "10.9.9.9,10.1.2.3", "10.9.9.9"},
		"no address":                 {[]string{trusting}, "203.0.113.9, junk\"x", "127.0.0.1"},
		"the next generation, boxed": {[]string{trusting}, "::ffff:203.0.113.9", "203.0.113.9"},
	}
	servers := map[string]*process{}
	for name, tt := range tests {
		key := strings.Join(tt.flags, " ")
		if servers[key] == nil {
			servers[key] = start(t, store.SQLite, tt.flags...)
		}
		p, id := servers[key], apitest.Unique("forwarded")
		headers := []string{"X-Request-Id", id}
		if tt.forwarded != "" {
			headers = append(headers, "X-Forwarded-For", tt.forwarded)
		}
		p.Get("/v1/whoami", headers...)
		// The line is written when the answer is out.
		line := regexp.MustCompile("request_id=" + id + " client=(\\S+)")
		apitest.Await(t, "the log's line", func() bool { return line.MatchString(p.log.String()) })
		if got := line.FindStringSubmatch(p.log.String())[1]; got != tt.want {
			t.Errorf("%s: the client is %s, want %s", name, got, tt.want)
		}
	}
}
