package records_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/records"
)

const digits = "1234567890123456789012345678901234567890"

// Each bad line is refused alone, kept as it came, and has its answer.
func TestEachBadLineHasItsAnswerAndStopsNoOther(t *testing.T) {
	bad := []struct{ line, code, detail string }{
		{"\ufeff" + `{"stream":"notes","data":{"id":1}}`, records.InvalidJSON, "the line begins with a byte order mark"},
		{"{\"stream\":\"notes\",\"data\":{\"id\":\"\xff\"}}", records.InvalidJSON, "the line is not UTF-8"},
		{`{"stream":"notes"`, records.InvalidJSON, "a comma or a closing bracket is missing at byte 17"},
		{`{"stream":"notes","data":{"id":1}} 2`, records.InvalidJSON, "text follows the JSON value at byte 35"},
		{`{"stream":"notes","data":{"id":"\u0000"}}`, records.InvalidRecord, "/data/id: the text contains NUL"},
		{`{"stream":"notes","data":{"id":1,"\u0000":2,"\u0000":3}}`, records.InvalidRecord, "/data/\ufffd: the text contains NUL"},
		{`{"stream":"notes","data":{"id":"\ud83d"}}`, records.InvalidRecord, "/data/id: the text contains a lone surrogate"},
		{`{"stream":"notes","data":{"id":1,"id":1}}`, records.InvalidRecord, "/data/id: the member is repeated"},
		{`{"stream":"notes","data":{"id":1,"a":[{"b":1,"b":2}]}}`, records.InvalidRecord, "/data/a/0/b: the member is repeated"},
		{`{"stream":"notes","data":{"id":1,"a":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}}`, records.InvalidRecord, "/data/a" + strings.Repeat("/0", 63) + ": the value is nested deeper than 64"},
		{`{"stream":"notes","Data":{"id":1}}`, records.InvalidRecord, "/Data: unexpected property"},
		{`{"stream":"notes","data":{"id":1},"seq":1,"a":1,"b":1,"c":1}`, records.InvalidRecord, "/a: unexpected property; /b: unexpected property; /c: unexpected property; and 1 faults more"},
		{`{"data":{"id":1}}`, records.InvalidRecord, "/stream: the member is required"},
		{`{"stream":"no tes","data":{"id":1}}`, records.InvalidRecord, "/stream: expected string to match pattern ^[A-Za-z0-9_][A-Za-z0-9_.-]*$"},
		{`{"stream":"notes","data":{"id":1},"op":"replace"}`, records.InvalidRecord, `/op: expected value to be one of "upsert, delete"`},
		{`{"stream":"notes","data":{"id":1},"emitted_at":"yesterday"}`, records.InvalidRecord, "/emitted_at: expected an RFC 3339 time with an offset, such as 2026-01-31T08:00:00Z, in years 2 to 9999"},
		{`{"stream":"notes","checkpoint":1,"data":{"id":1}}`, records.InvalidRecord, "/data: a checkpoint stands alone in its line"},
		{`7`, records.InvalidRecord, "expected object"},
		{`{"stream":"guests","data":{"id":1}}`, records.UnknownStream, `the connector declares no stream "guests"`},
		{`{"stream":"notes","data":{"text":"t"}}`, records.KeyMissing, ""},
		{`{"stream":"notes","data":{"id":null}}`, records.KeyMissing, ""},
		{`{"stream":"notes","data":{"id":{"a":1}}}`, records.KeyMissing, ""},
		{`{"stream":"pairs","data":{"a":1,"b":[]}}`, records.KeyMissing, ""},
		{`{"stream":"notes","op":"delete"}`, records.KeyMissing, ""},
		{`{"stream":"notes","data":{"id":1},"key":"2"}`, records.KeyMismatch, "key is not that of the data"},
		{`{"stream":"notes","op":"delete","key":"` + strings.Repeat("k", 513) + `"}`, records.KeyTooLong, "the key is longer than 512 bytes"},
		{strings.Repeat("x", records.MaxLine+1), records.LineTooLarge, "the line has 1048577 bytes, and may have 1048576"},
	}
	each(t, func(f *fixture) {
		body := "\r\n" + `{"stream":"notes","data":{"id":"first"}}` + "\r\n"
		for _, b := range bad {
			body += b.line + "\n"
		}
		body += `{"stream":"pairs","data":{"a":1,"b":"x","n":` + digits + `}}` // without an end
		got := f.send(f.api(1000, nil), "", body)
		f.answered(got, 200, map[string]string{"accepted": "2", "unchanged": "0", "rejected_count": fmt.Sprint(len(bad)), "lines": fmt.Sprint(len(bad) + 2), "batch": "<nil>"})
		var out struct{ Rejected []records.Rejected }
		got.Into(f.T, &out)
		for i, b := range bad {
			r := out.Rejected[i]
			if r.Index != int64(i+2) || r.Code != b.code || b.detail != "" && r.Detail != b.detail {
				f.Errorf("%.60q is %+v, want %s: %s", b.line, r, b.code, b.detail)
			}
			f.kept(r, b.line)
		}
		if r := f.record("pairs", `["1","x"]`); !strings.Contains(r.Data, digits) {
			f.Errorf("the number is %s", r.Data)
		}
		f.recount()
	})
}

// kept checks that the quarantine has the line as it came.
func (f *fixture) kept(r records.Rejected, line string) {
	f.Helper()
	if r.RejectionID == nil {
		f.Errorf("line %d is not kept", r.Index)
		return
	}
	want := base64.StdEncoding.EncodeToString([]byte(line))
	if len(line) > records.MaxLine {
		want = "none"
	}
	if got := dbtest.Get[string](f.T, f.Store, "select coalesce(line, 'none') from record_rejections where id = $1", *r.RejectionID); got != want {
		f.Errorf("line %d is kept as %.80s", r.Index, got)
	}
}

// What is wrong with the request or the body as a whole has one answer; what stands in
// whole chunks before it is durable, and nothing else.
func TestBodyThatEndsEarlyLeavesWholeChunks(t *testing.T) {
	array := "[" + strings.ReplaceAll(strings.TrimSpace(notes(0, 5)), "\n", ",")
	zipped := compressed(notes(0, 5))
	for _, tt := range []struct {
		name, query, body string
		headers           []string
		status            int
		code, detail      string
		durable           int64
	}{
		{name: "an array that breaks off", body: array, headers: []string{"Content-Type", "application/json"}, status: 400, code: "invalid_json",
			detail: fmt.Sprintf("the array is not closed, in element 4 at byte %d", len(array)), durable: 4},
		{name: "an element that is missing", body: array + ",,1]", headers: []string{"Content-Type", "application/json"}, status: 400, code: "invalid_json",
			detail: "an element is missing, in element 5", durable: 4},
		{name: "text behind the array", body: array + "] 1", headers: []string{"Content-Type", "application/json"}, status: 400, code: "invalid_json", detail: "text follows the array", durable: 4},
		{name: "no array", body: `{"stream":"notes"}`, headers: []string{"Content-Type", "application/json"}, status: 400, code: "invalid_json", detail: "the body is not a JSON array, in element 0 at byte 0"},
		{name: "an empty array body", headers: []string{"Content-Type", "application/json"}, status: 400, code: "invalid_json", detail: "the body is empty"},
		{name: "broken gzip", body: zipped[:len(zipped)-6] + "xxxxxx", headers: []string{"Content-Encoding", "gzip"}, status: 400, code: "invalid_json", detail: "the body is not gzip", durable: 4},
		{name: "gzip that breaks off", body: zipped[:len(zipped)-9], headers: []string{"Content-Encoding", "gzip"}, status: 400, code: "invalid_json", detail: "could not be read to its end", durable: 4},
		{name: "another media type", body: notes(0, 5), headers: []string{"Content-Type", "text/csv"}, status: 415, code: "unsupported_media_type"},
		{name: "an unknown parameter", query: "?stream=notes", body: notes(0, 5), status: 400, code: "invalid_request", detail: "no such parameter"},
		{name: "a batch without a hash", query: "?batch_id=b", body: notes(0, 5), status: 400, code: "invalid_request", detail: "a batch needs the SHA-256"},
		{name: "a hash in capitals", query: "?batch_id=b", body: notes(0, 5), headers: []string{"Content-SHA256", strings.Repeat("A", 64)}, status: 400, code: "invalid_request", detail: "Content-SHA256"},
		{name: "another hash", query: "?batch_id=b", body: notes(0, 5), headers: []string{"Content-SHA256", strings.Repeat("a", 64)}, status: 400, code: "hash_mismatch"},
		{name: "a hash without a batch", body: notes(0, 5), headers: []string{"Content-SHA256", strings.Repeat("a", 64)}, status: 400, code: "invalid_request", detail: "name a batch_id"},
		{name: "a device without a batch", query: "?device=d", body: notes(0, 5), status: 400, code: "invalid_request", detail: "name a batch_id"},
		{name: "a run without a generation", query: "?run_id=run_1", body: notes(0, 5), status: 400, code: "invalid_request", detail: "with its generation"},
		{name: "a generation without a run", query: "?generation=1", body: notes(0, 5), status: 400, code: "invalid_request", detail: "of a run"},
		{name: "an unknown run", query: "?run_id=run_1&generation=1", body: notes(0, 5), status: 404, code: "not_found"},
		{name: "a key", body: notes(0, 5), headers: []string{"Idempotency-Key", "k"}, status: 400, code: "idempotency_unsupported"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			each(t, func(f *fixture) {
				got := f.send(f.api(2, nil), tt.query, tt.body, tt.headers...)
				if got.Status != tt.status || got.Str("code") != tt.code || !strings.Contains(string(got.Body), tt.detail) {
					f.Errorf("want %d %s %s, got %s", tt.status, tt.code, tt.detail, got)
				}
				if n := f.count("records", "deleted_at is null"); n != tt.durable || tt.durable > 0 && fmt.Sprint(got.At("durable_lines")) != fmt.Sprint(n) {
					f.Errorf("%d records are durable, want %d: %s", n, tt.durable, got)
				}
				f.recount()
			})
		})
	}
}

func compressed(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.String()
}

// A client that goes away at any byte leaves the chunks that it had sent whole, and
// sending all again comes to the same end.
func TestClientMayGoAwayAtAnyByte(t *testing.T) {
	each(t, func(f *fixture) {
		c, body := f.api(2, nil), notes(0, 3)+`{"stream":"notes","op":"delete","key":"n1"}`+"\n"+notes(3, 1)
		for cut := 0; cut < len(body); cut += 7 {
			from := io.MultiReader(strings.NewReader(body[:cut]), iotest.ErrReader(io.ErrUnexpectedEOF))
			r, err := http.NewRequestWithContext(context.Background(), "POST", c.Base()+"/v1/connections/"+f.connection+"/records", from)
			if err != nil {
				f.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer stint_ada")
			r.Header.Set("Content-Type", "application/x-ndjson")
			got, err := c.Do(r)
			if err != nil || got.Status != 400 || fmt.Sprint(got.At("durable_lines")) != fmt.Sprint(wholeChunks(body[:cut])) {
				f.Fatalf("cut off at byte %d: %s, %v; want %d durable lines", cut, got, err, wholeChunks(body[:cut]))
			}
		}
		f.answered(f.send(c, "", body), 200, map[string]string{"rejected_count": "0", "lines": "5"})
		if live, gone := f.count("records", "deleted_at is null"), f.count("records", "deleted_at is not null"); live != 3 || gone != 1 {
			f.Errorf("%d records are live, %d deleted", live, gone)
		}
		f.recount()
	})
}

// wholeChunks is how many lines are in whole chunks of two.
func wholeChunks(sent string) int { return strings.Count(sent, "\n") / 2 * 2 }

func TestNoLinesAreNoFault(t *testing.T) {
	each(t, func(f *fixture) {
		c := f.api(1000, nil)
		f.answered(f.send(c, "", "\n \r\n"), 200, map[string]string{"lines": "0", "accepted": "0"})
		f.answered(f.send(c, "", "", "Content-Type", "application/x-ndjson"), 200, map[string]string{"lines": "0"})
		f.answered(f.send(c, "", "[]", "Content-Type", "application/json"), 200, map[string]string{"lines": "0"})
		f.answered(f.sendBatch(c, "?batch_id=none", ""), 200, map[string]string{"lines": "0", "batch.state": "accepted"})
	})
}

// A revoked connection and an ended run are refused before the body is read.
func TestBodyThatNobodyWantsIsNotRead(t *testing.T) {
	each(t, func(f *fixture) {
		c, unread := f.api(1000, nil), iotest.ErrReader(errors.New("was read"))
		refused := func(query, code string) {
			f.Helper()
			r, _ := http.NewRequestWithContext(f.Context(), "POST", c.Base()+"/v1/connections/"+f.connection+"/records"+query, unread)
			r.Header.Set("Authorization", "Bearer stint_ada")
			r.Header.Set("Content-Type", "application/x-ndjson")
			got, err := c.Do(r)
			if err != nil || got.Str("code") != code {
				f.Errorf("%s: got %s, %v; want %s", query, got, err, code)
			}
		}
		run := f.refresh()
		refused(fmt.Sprintf("?run_id=%s&generation=%d", run.RunID, run.Generation+1), "run_not_active")
		refused("?run_id=run_none&generation=1", "not_found")
		f.end(run, "failed")
		refused(fmt.Sprintf("?run_id=%s&generation=%d", run.RunID, run.Generation), "run_not_active")
		f.revoke()
		refused("", "connection_revoked")
	})
}

// An answer names the first thousand refused lines, and counts the rest; those that
// the quarantine has no room for have no id.
func TestAnswerNamesSoManyRefusedLines(t *testing.T) {
	each(t, func(f *fixture) {
		var body strings.Builder
		for i := range 10_000 {
			fmt.Fprintf(&body, "{%d\n", i)
		}
		got := f.send(f.api(records.MaxChunkLines, nil), "", body.String()+notes(0, 1))
		last := fmt.Sprintf("rejected.%d.", records.MaxNamed-1)
		f.answered(got, 200, map[string]string{"rejected_count": "10000", "accepted": "1", "lines": "10001", last + "index": "999", last + "rejection_id": "<nil>"})
		if n := got.Len("rejected"); n != records.MaxNamed || got.Str(fmt.Sprintf("rejected.%d.rejection_id", records.MaxConnectionRejections-1)) == "" {
			f.Errorf("%d lines are named", n)
		}
		f.recount()
	})
}
