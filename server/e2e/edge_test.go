package e2e

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/store"
)

// TestCompressedBodiesAreBoundedAfterDecompression sends 90 MiB as 90 kB, with
// and without a token, to every route that takes a body.
func TestCompressedBodiesAreBoundedAfterDecompression(t *testing.T) {
	t.Parallel()
	p := start(t, store.SQLite)
	bomb := string(zipped(bytes.Repeat([]byte("a"), 90<<20)))
	double := string(zipped([]byte(bomb)))
	ops := operations(t, p.Client)
	before := memory(t, p)
	for _, o := range ops {
		if !o.hasBody {
			continue
		}
		send := func(c *apitest.Client, body, encoding string, status int) {
			t.Helper()
			to := target{param: "x", body: body, headers: []string{"Content-Encoding", encoding}}
			if a := o.send(c, to); a.Status != status {
				t.Errorf("%s %s as %s: want %d, got %s", o.method, o.path, encoding, status, a)
			}
		}
		send(p.As(""), bomb, "gzip", 401)
		send(p.Client, bomb, "gzip", 413)
		send(p.Client, double, "gzip, gzip", 415)
		for _, encoding := range []string{"deflate", "br", "zstd"} {
			send(p.Client, bomb, encoding, 415)
		}
	}
	if grown := memory(t, p) - before; grown > 200<<10 {
		t.Errorf("the server grew by %d KiB", grown)
	}
	small := string(zipped([]byte(`{"kind":"review"}`)))
	if a := p.Post("/v1/jobs", small, "Content-Encoding", "gzip"); a.Status != 201 {
		t.Errorf("a small body: %s", a)
	}
}

func zipped(text []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(text) // a buffer takes everything
	_ = z.Close()
	return b.Bytes()
}

var peak = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// memory is the most that the process has held so far, in KiB.
func memory(t *testing.T, p *process) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	kib, err := strconv.Atoi(peak.FindStringSubmatch(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return kib
}

// slowly opens n connections that each send text byte by byte, and returns how
// long the server let the longest of them go on.
func slowly(t *testing.T, c *apitest.Client, n int, begin, text string) (longest time.Duration) {
	t.Helper()
	took := make([]time.Duration, n)
	together(n, func(i int) { took[i] = slow(t, c, begin, text) })
	for _, d := range took {
		longest = max(longest, d)
	}
	return longest
}

// slow is one such connection.
func slow(t *testing.T, c *apitest.Client, begin, text string) time.Duration {
	conn := dial(t, c)
	defer conn.Close()
	began := time.Now()
	_, err := conn.Write([]byte(begin))
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = conn.Read(make([]byte, 1)) // an answer, or the end
	}()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for i := 0; err == nil && i < len(text); i++ {
		select {
		case <-gone:
			return time.Since(began)
		case <-tick.C:
			_, err = conn.Write([]byte{text[i]})
		}
	}
	return time.Since(began)
}

const slowHeader = "POST /v1/jobs HTTP/1.1\r\nHost: stint\r\nX-Slow: "

// TestSlowHeadersAreCutAndHurtNobody: they have ten seconds.
func TestSlowHeadersAreCutAndHurtNobody(t *testing.T) {
	t.Parallel()
	besideSlowHeaders(t, 200)
}

// besideSlowHeaders claims while n connections send their header slowly.
func besideSlowHeaders(t *testing.T, n int) {
	t.Helper()
	s := serveOn(t, store.SQLite, store.Config{})
	done := make(chan time.Duration, 1)
	go func() { done <- slowly(t, s.Client, n, slowHeader, strings.Repeat("x", 60)) }()
	var took []time.Duration
	for {
		began := time.Now()
		answered := answers(s.Client)
		took = append(took, time.Since(began))
		if last := took[len(took)-1]; !answered || last > 3*time.Second {
			t.Errorf("a normal claim took %v", last)
		}
		select {
		case longest := <-done:
			slices.Sort(took)
			t.Logf("%d slow headers: cut after at most %v; of %d claims beside them p50 %v, p99 %v", n, longest, len(took), took[len(took)/2], took[len(took)*99/100])
			if longest > 15*time.Second {
				t.Errorf("a slow header was let go on for %v", longest)
			}
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// TestNoRequestIsSentElsewhere: no path makes the server redirect.
func TestNoRequestIsSentElsewhere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		for _, path := range []string{
			"//evil.example", "//evil.example%2f..", "//evil.example/..", "/console//evil.example/..", "/docs//evil.example",
			"/docs/?next=//evil.example", `/\evil.example`, "/%5cevil.example", "/v1/jobs/", "/v1//jobs", "/./v1/jobs", "/v1/../v1/jobs",
			"/openapi.json/", "http://evil.example/v1/jobs",
		} {
			got := raw(t, s.Client, "GET "+path+" HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
			status, rest, _ := strings.Cut(got, "\r\n")
			if !regexp.MustCompile(`^HTTP/1.1 [24]\d\d`).MatchString(status) || strings.Contains(strings.ToLower(rest), "\r\nlocation:") {
				t.Errorf("%s: %s", path, got)
			}
		}
	})
}

// TestHeadersThatForgeLinesAreReplaced: what comes back, and what is logged, is
// one clean word.
func TestHeadersThatForgeLinesAreReplaced(t *testing.T) {
	t.Parallel()
	s := serveOn(t, store.SQLite, store.Config{})
	for _, id := range []string{strings.Repeat("x", 20_000), `a"b`, "ü", "x%0d%0aSet-Cookie:1", "a b", "a\tlevel=ERROR"} {
		if a := s.Get("/livez", "X-Request-Id", id); a.Header.Get("X-Request-Id") == id {
			t.Errorf("%q came back", id)
		}
	}
	if a := s.Get("/livez", "X-Request-Id", "my-id_1.2"); a.Header.Get("X-Request-Id") != "my-id_1.2" {
		t.Errorf("a clean id became %q", a.Header.Get("X-Request-Id"))
	}
	for _, worker := range []string{`w1\nlevel=error msg=pwned`, "w1\\u001b[31m", " w", "wü"} {
		if a := s.Post("/v1/jobs/claim", `{"worker":"`+worker+`","kinds":["review"]}`); a.Status != 422 {
			t.Errorf("worker %q: %s", worker, a)
		}
	}
	for line := range strings.Lines(s.Log.String()) {
		if !strings.HasPrefix(line, "time=") || strings.Contains(line, "pwned") {
			t.Errorf("the log has %q", line)
		}
	}
}

// TestMarkupStaysData: the API answers JSON and nothing else, whatever is in it.
func TestMarkupStaysData(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		const markup = `<script>alert(1)</script><img src=x onerror=alert(1)>`
		id := s.Must(201, "/v1/jobs", `{"kind":"review","key":"`+markup+`","payload":{"`+markup+`":"`+markup+`"}}`).Str("job.id")
		j := claim(s.Client, "review")
		s.Must(200, j.path("fail"), j.with(`"error":{"code":"`+markup+`","message":"`+markup+`"},"retryable":false`))
		for _, path := range []string{"/v1/jobs", "/v1/jobs/" + id, "/v1/runs", "/v1/runs/" + j.run, "/v1/jobs?key=" + "%3Cscript%3E"} {
			a := s.Get(path)
			if a.Status != http.StatusOK || a.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %q %s", path, a.Header.Get("Content-Type"), a)
			}
		}
		if a := s.Get("/v1/jobs/" + id); a.Str("key") != markup || a.Str("error.message") != markup {
			t.Errorf("the markup came back as %s", a)
		}
		for _, path := range []string{"/v1/" + "%3Cscript%3E", "/v1/jobs/%3Cscript%3E", "/problems/%3Cscript%3E", "/v1/jobs?%3Cscript%3E=1"} {
			if a := s.Get(path); a.Status < 400 || bytes.Contains(a.Body, []byte("<script>")) && a.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s: %s", path, a)
			}
		}
	})
}
