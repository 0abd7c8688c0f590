package e2e

import (
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/store"
)

// loans are n lines of the connector's stream.
func loans(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"stream":"loans","data":{"id":"l%d","title":"A book that somebody lent"}}`+"\n", i)
	}
	return b.String()
}

// TestBatchOfAKilledServerIsResumed: each line has its effect once. Where other
// servers of the database may be at work, the sender waits for the lease first.
func TestBatchOfAKilledServerIsResumed(t *testing.T) {
	t.Parallel()
	eachProcess(t, func(t *testing.T, p *process) {
		const lines = 8000
		body := loans(lines)
		path := "/v1/connections/" + connection(p.Client, "ada") + "/records?batch_id=b"
		headers := []string{"Content-Type", "application/x-ndjson", "Content-SHA256", fmt.Sprintf("%x", sha256.Sum256([]byte(body)))}
		ended := make(chan error, 1)
		go func() {
			_, err := p.Try(t.Context(), http.MethodPost, path, body, headers...)
			ended <- err
		}()
		apitest.Await(t, "durable lines", func() bool {
			return p.db.number("select coalesce(max(durable_lines), 0) from ingest_batches") > 0
		})
		p.kill9()
		if err := <-ended; err == nil {
			t.Fatal("the batch was accepted before the server was killed")
		}
		durable := p.db.number("select durable_lines from ingest_batches")
		if n := p.db.number("select count(*) from records"); n != durable || n == 0 || n == lines {
			t.Fatalf("%d records of %d durable lines", n, durable)
		}
		p.restart()
		if p.db.engine == store.Postgres {
			if a := p.Post(path, body, headers...); a.Status != 409 || a.Str("code") != "batch_in_progress" || a.Header.Get("Retry-After") == "" {
				t.Errorf("beside the killed sender's lease: %s", a)
			}
			p.db.exec("update ingest_batches set lease_expires_at = created_at")
		}
		first := p.Must(200, path, body, headers...)
		again := p.Must(200, path, body, headers...)
		if fmt.Sprint(first.At("accepted")) != fmt.Sprint(lines) || string(first.Body) != string(again.Body) {
			t.Errorf("%s\n%s", first, again)
		}
		if n, twice := p.db.number("select count(*) from records"), p.db.number("select count(*) from record_versions"); n != lines || twice != 0 {
			t.Errorf("%d records, %d superseded versions", n, twice)
		}
	})
}

// A body costs the server no more memory than a few chunks, whatever its length: lines
// of the greatest size are the worst.
func TestBodyOfAnyLengthCostsLittleMemory(t *testing.T) {
	t.Parallel()
	eachProcess(t, func(t *testing.T, p *process) { streamLarge(t, p, 1<<20-100, 12) })
}

// maxGrowth is what a body may cost a server, in KiB.
const maxGrowth = 100 << 10

// streamLarge sends n lines with texts of so many bytes, plain and compressed, and
// checks what the server held at most.
func streamLarge(t *testing.T, p *process, size, n int) {
	t.Helper()
	path := p.URL() + "/v1/connections/" + connection(p.Client, "ada") + "/records"
	before := memory(t, p)
	for _, coding := range []string{"", "gzip"} {
		from, to := io.Pipe()
		go func() { _ = to.CloseWithError(writeLarge(to, coding, size, n)) }()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, path, from)
		must(t, err)
		r.Header.Set("Authorization", "Bearer "+p.Token)
		r.Header.Set("Content-Type", "application/x-ndjson")
		if coding != "" {
			r.Header.Set("Content-Encoding", coding)
		}
		resp, err := (&http.Client{}).Do(r)
		must(t, err)
		text, err := io.ReadAll(resp.Body)
		must(t, err)
		_ = resp.Body.Close()
		if a := (apitest.Answer{Status: resp.StatusCode, Body: text}); a.Status != 200 || fmt.Sprint(a.At("accepted")) != fmt.Sprint(n) {
			t.Errorf("%d lines of %d bytes, %s: %s", n, size, coding, a)
		}
		t.Logf("%d lines of %d bytes, %q: the server held %d KiB before, then %d", n, size, coding, before, memory(t, p))
	}
	if held := memory(t, p); held > before+maxGrowth {
		t.Errorf("the server held %d KiB before, and then %d", before, held)
	}
}

// writeLarge writes n lines; the key tells one coding from the other.
func writeLarge(to io.Writer, coding string, size, n int) error {
	if coding == "gzip" {
		z := gzip.NewWriter(to)
		defer z.Close()
		to = z
	}
	text := strings.Repeat("x", size)
	for i := range n {
		if _, err := fmt.Fprintf(to, `{"stream":"loans","data":{"id":"%s%d","text":"%s"}}`+"\n", coding, i, text); err != nil {
			return err
		}
	}
	return nil
}
