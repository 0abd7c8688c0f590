package web_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/ndjson"
	"github.com/stint-run/stint/server/web"
)

// bodyTime is how long a body may pause, lineTime how long the handler of lines may
// take between two reads, where a test sets them.
const (
	bodyTime = 250 * time.Millisecond
	lineTime = time.Second
)

// lineBound is how long a line may be.
const lineBound = 200

type lineJSON struct {
	Stream string       `json:"stream" pattern:"^[a-z]+$" maxLength:"20"`
	Data   coltype.JSON `json:"data,omitempty" maxBytes:"body"`
	At     coltype.Time `json:"at,omitempty"`
}

// Faults refuses the word taboo.
func (l *lineJSON) Faults() []fault.Item {
	if l.Stream == "taboo" {
		return []fault.Item{{Pointer: "/stream", Detail: "taboo"}}
	}
	return nil
}

type linesQuery struct {
	End string `query:"end" enum:"refuse,wait,raw,late,steps"`
}

// took is what came of some lines, each in a few words.
type took struct {
	Lines []string `json:"lines"`
}

// takeLines tells what each line is. It refuses all unread, waits for its context, or
// answers late or with bytes of its own, as asked.
func takeLines(ctx context.Context, in *linesQuery, body *web.Body[lineJSON]) (web.Uploaded[took], error) {
	out := took{Lines: []string{}}
	switch in.End {
	case "refuse":
		return web.Uploaded[took]{}, fault.IdempotencyInFlight()
	case "raw":
		return web.Uploaded[took]{Raw: []byte(`{"lines": ["raw"]}`)}, nil
	}
	items := body.Split(body, lineBound)
	for {
		it, err := items.Next()
		if errors.Is(err, io.EOF) && in.End == "steps" {
			return web.Uploaded[took]{Body: out}, inSteps(ctx, body)
		}
		if errors.Is(err, io.EOF) {
			pause := map[string]time.Duration{"late": 2 * bodyTime, "wait": time.Minute}[in.End]
			return web.Uploaded[took]{Body: out}, orEnd(ctx, pause)
		}
		if b, ok := errors.AsType[*ndjson.Broken](err); ok {
			err = fault.Unparsable(b.Error())
		}
		if err != nil {
			return web.Uploaded[took]{}, err
		}
		out.Lines = append(out.Lines, describe(ctx, body, it))
	}
}

// inSteps takes longer than lineTime, in steps that take less.
func inSteps(ctx context.Context, body *web.Body[lineJSON]) error {
	for range 3 {
		if err := orEnd(ctx, lineTime*2/5); err != nil {
			return err
		}
		body.Renew()
	}
	return ctx.Err()
}

// orEnd waits for d, unless ctx ends first.
func orEnd(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func describe(ctx context.Context, body *web.Body[lineJSON], it ndjson.Item) string {
	if it.Raw == nil {
		return fmt.Sprintf("%d is of %d bytes", it.Index, it.Size)
	}
	line, faults, err := body.Parse(ctx, it.Raw)
	switch {
	case err != nil:
		return err.Error()
	case len(faults) > 0:
		return faults[0].Pointer + ": " + faults[0].Detail
	}
	return fmt.Sprintf("%s=%s", line.Stream, line.Data)
}

func packed(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.String()
}

// lines are the words of an answer.
func (a answer) lines() string {
	var out took
	_ = json.Unmarshal(a.Body, &out)
	return strings.Join(out.Lines, "|")
}

func TestLinesComeInTwoFormsPlainOrCompressed(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	const two, array = "{\"stream\":\"a\",\"data\":{ \"n\": 1.50}}\r\n\n{\"stream\":\"b\"}", `[ {"stream":"a","data":{ "n": 1.50}}, {"stream":"b"} ]`
	for _, tt := range []struct {
		name, media, coding, body string
		status                    int
		want                      string
	}{
		{"lines", "application/x-ndjson", "", two, 200, `a={"n":1.50}|b=`},
		{"lines in a named charset", "application/x-ndjson; charset=UTF-8", "", two, 200, `a={"n":1.50}|b=`},
		{"an array", "application/json", "", array, 200, `a={"n":1.50}|b=`},
		{"compressed lines", "application/x-ndjson", "gzip", packed(two), 200, `a={"n":1.50}|b=`},
		{"compressed twice over, one behind the other", "application/x-ndjson", "GZIP", packed(two[:9]) + packed(two[9:]), 200, `a={"n":1.50}|b=`},
		{"a compressed array", "application/json", "gzip", packed(array), 200, `a={"n":1.50}|b=`},
		{"no lines", "application/x-ndjson", "", "", 200, ""},
		{"no elements", "application/json", "", "[]", 200, ""},
		{"a long line", "application/x-ndjson", "", strings.Repeat("x", 999) + "\n{\"stream\":\"b\"}\n", 200, "0 is of 999 bytes|b="},

		{"another form", "text/plain", "", two, 415, "Content-Type: application/x-ndjson or application/json"},
		{"no form", "", "", two, 415, "application/x-ndjson"},
		{"another charset", "application/x-ndjson; charset=latin1", "", two, 415, "utf-8"},
		{"another coding", "application/x-ndjson", "br", two, 415, "Content-Encoding: gzip"},
		{"no array", "application/json", "", two, 400, "the body is not a JSON array, in element 0 at byte 0"},
		{"no body for an array", "application/json", "", "", 400, "the body is empty"},
		{"an array that breaks off", "application/json", "", array[:40], 400, "the array is not closed, in element 1 at byte 40"},
		{"no gzip", "application/x-ndjson", "gzip", two, 400, "the body is not gzip"},
		{"empty gzip", "application/x-ndjson", "gzip", "", 400, "the body is not gzip"},
		{"spoilt gzip", "application/x-ndjson", "gzip", packed(two)[:12] + "\xff\xff" + packed(two)[14:], 400, "the body is not gzip"},
		{"gzip that breaks off", "application/x-ndjson", "gzip", packed(two)[:20], 400, "could not be read to its end"},
	} {
		got := e.do(t, "POST", "/v1/lines", tt.body, "Content-Type", tt.media, "Content-Encoding", tt.coding)
		if got.Status != tt.status || got.Status == 200 && got.lines() != tt.want || !strings.Contains(got.body, strings.ReplaceAll(tt.want, `"`, `\"`)) && got.Status != 200 {
			t.Errorf("%s: %s", tt.name, got.Answer)
		}
	}
	if got := e.do(t, "POST", "/v1/lines?end=raw", "", "Content-Type", "application/json"); got.body != `{"lines": ["raw"]}` || got.Header.Get("Content-Type") != "application/json" {
		t.Errorf("raw bytes: %s", got.Answer)
	}
	if got := e.do(t, "POST", "/v1/lines", two, "Content-Type", "application/x-ndjson", "Idempotency-Key", "k"); got.problem(t).Code != "idempotency_unsupported" {
		t.Errorf("under a key: %s", got.Answer)
	}
}

func TestLineIsCheckedLikeABody(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	for line, want := range map[string]string{
		`{"stream":"a","data":123456789012345678901234567890.5e400}`: `a=123456789012345678901234567890.5e400`,
		`{"stream":"a","data":{"k":1,"K":2}}`:                        `a={"k":1,"K":2}`,
		"\ufeff{}":                                                   "the line begins with a byte order mark",
		"{\"stream\":\"\xff\"}":                                      "the line is not UTF-8",
		`{"stream":"a"} x`:                                           "text follows the JSON value at byte 15",
		`{"stream":`:                                                 "a value is missing or malformed at byte 10",
		`[]`:                                                         ": expected object",
		`{"data":1}`:                                                 "/stream: the member is required",
		`{"Stream":"a"}`:                                             "/Stream: unexpected property",
		`{"stream":"a","stream":"b"}`:                                "/stream: the member is repeated",
		`{"stream":"a","data":[{"k":1,"k":2}]}`:                      "/data/0/k: the member is repeated",
		`{"stream":"a","data":"\u0000"}`:                             "/data: the text contains NUL",
		`{"stream":"a","data":"\ud800"}`:                             "/data: the text contains a lone surrogate",
		`{"stream":"A"}`:                                             "/stream: expected string to match pattern ^[a-z]+$",
		`{"stream":"taboo"}`:                                         "/stream: taboo",
		`{"stream":"a","at":"0001-01-01T00:00:00Z"}`:                 "/at: expected an RFC 3339 time with an offset, such as 2026-01-31T08:00:00Z, in years 2 to 9999",
	} {
		if got := e.do(t, "POST", "/v1/lines", line, "Content-Type", "application/x-ndjson"); got.lines() != want {
			t.Errorf("%s is %s, want %s", line, got.Answer, want)
		}
	}
}

// A body may take any time as long as it goes on; the time of its silence is bounded.
func TestBodyMayTakeAnyTimeButNotPause(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{BodyTime: bodyTime})
	for _, tt := range []struct {
		name   string
		pieces int // each after 50 ms
		whole  bool
		status int
	}{{"slow", 10, true, 200}, {"silent", 2, false, 408}} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(e.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		text := "POST /v1/lines HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + adminToken + "\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for range tt.pieces {
			<-tick.C
			fmt.Fprintf(conn, "%s11\r\n{\"stream\": \"a\"} \n\r\n", text)
			text = ""
		}
		if tt.whole {
			fmt.Fprint(conn, "0\r\n\r\n")
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != tt.status || tt.whole && strings.Count(string(body), "a=") != tt.pieces {
			t.Errorf("%s: %d %s", tt.name, resp.StatusCode, body)
		}
	}
}

// What the handler does between two reads, or behind the last one, has the time of an
// answer, not of a body.
func TestHandlerOfAStreamIsGivenUp(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{BodyTime: bodyTime})
	if got := e.do(t, "POST", "/v1/lines?end=late", `{"stream":"a"}`, "Content-Type", "application/x-ndjson"); got.lines() != "a=" {
		t.Errorf("late: %s", got.Answer)
	}
	if got := e.do(t, "POST", "/v1/lines?end=steps", `{"stream":"a"}`, "Content-Type", "application/x-ndjson"); got.lines() != "a=" {
		t.Errorf("steps: %s", got.Answer)
	}
	if got := e.do(t, "POST", "/v1/lines?end=wait", "{}", "Content-Type", "application/x-ndjson"); got.problem(t).Code != "unavailable" {
		t.Errorf("got %s", got.Answer)
	}
}

// A body of 64 MiB that arrives as some 64 KB costs no memory.
func TestCompressedBombCostsNoMemory(t *testing.T) {
	e := one(t, web.Config{})
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	piece := make([]byte, 1<<20)
	for range 64 {
		if _, err := z.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	_ = z.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := e.do(t, "POST", "/v1/lines", bomb.String(), "Content-Type", "application/x-ndjson", "Content-Encoding", "gzip")
	runtime.ReadMemStats(&after)
	if want := fmt.Sprintf("0 is of %d bytes", 64<<20); got.lines() != want {
		t.Errorf("got %s, want %s", got.Answer, want)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
		t.Errorf("%d bytes were allocated for %d", grown, bomb.Len())
	}
}
