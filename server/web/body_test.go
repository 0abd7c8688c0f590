package web_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/web"
)

// strictBodies are bodies of a thing: the status, and where the faults are (*:
// anywhere).
var strictBodies = []struct {
	name, body string
	status     int
	pointers   string
}{
	{"least", `{"kind":"a"}`, 201, ""},
	{"white space around", " \t\r\n{\"kind\" : \"a\" } \n", 201, ""},
	{"optional null", `{"kind":"a","note":null,"count":null,"at":null,"payload":null}`, 201, ""},
	{"empty payload names", `{"kind":"a","payload":{"":{"":1}}}`, 201, ""},
	{"two documents", `{"kind":"a"}{"kind":"b"}`, 400, "body:"},
	{"trailing text", `{"kind":"a"} xyz`, 400, "body:"},
	{"cut short", `{"kind":"a"`, 400, "body:"},
	{"single quotes", `{'kind':'a'}`, 400, "body:"},
	{"trailing comma", `{"kind":"a",}`, 400, "body:"},
	{"leading zero", `{"kind":"a","count":01}`, 400, "body:"},
	{"bare NaN", `{"kind":"a","payload":NaN}`, 400, "body:"},
	{"raw control character", "{\"kind\":\"a\n\"}", 400, "body:"},
	{"white space only", "  ", 400, "body:"},
	{"byte order mark", "\ufeff{\"kind\":\"a\"}", 400, "body:"},
	{"invalid UTF-8 in our text", "{\"kind\":\"a\xff\xfe\"}", 400, "body:"},
	{"invalid UTF-8 in a payload", "{\"kind\":\"a\",\"payload\":{\"s\":\"\xff\"}}", 400, "body:"},
	{"overlong NUL", "{\"kind\":\"a\",\"note\":\"\xc0\x80\"}", 400, "body:"},
	{"UTF-16", "{\x00\"\x00k\x00", 400, "body:"},
	{"null", `null`, 422, "body:"},
	{"array", `[]`, 422, "body:"},
	{"text", `"kind"`, 422, "body:"},
	{"unknown member", `{"kind":"a","kindd":1}`, 422, "body:/kindd"},
	{"missing member", `{}`, 422, "body:/kind"},
	{"null where required", `{"kind":null}`, 422, "body:/kind"},
	{"our member in another case", `{"KIND":"a"}`, 422, "body:/KIND body:/kind"},
	{"both cases of our member", `{"kind":"a","Kind":"b"}`, 422, "body:/Kind"},
	{"repeated member", `{"kind":"a","kind":"a"}`, 422, "body:/kind"},
	{"repeated member, escaped", `{"kind":"a","k\u0069nd":"a"}`, 422, "body:/kind"},
	{"repeated member in a payload", `{"kind":"a","payload":{"x":[{"y":1,"y":2}]}}`, 422, "body:/payload/x/0/y"},
	{"cases of a payload are members", `{"kind":"a","payload":{"Id":1,"id":2,"ID":3}}`, 201, ""},
	{"payload may hold our names in any case", `{"kind":"a","payload":{"KIND":1,"payload":{"Kind":2}}}`, 201, ""},
	{"NUL in a payload", `{"kind":"a","payload":{"a":"x\u0000y"}}`, 422, "body:/payload/a"},
	{"NUL in a payload's name", `{"kind":"a","payload":{"a\u0000":1}}`, 422, "body:/payload/a\x00"},
	{"NUL in an array", `{"kind":"a","payload":["x",["\u0000"]]}`, 422, "body:/payload/1/0"},
	{"NUL in our text", `{"kind":"a","note":"\u0000"}`, 422, "body:/note"},
	{"lone high surrogate", `{"kind":"a","payload":"\ud800x"}`, 422, "body:/payload"},
	{"lone low surrogate", `{"kind":"a","payload":"\udc00"}`, 422, "body:/payload"},
	{"reversed pair", `{"kind":"a","payload":"\udc00\ud800"}`, 422, "body:/payload"},
	{"surrogate pair", `{"kind":"a","payload":"\ud83d\ude00"}`, 201, ""},
	{"payload of depth 64", `{"kind":"a","payload":` + deep(64) + `}`, 201, ""},
	{"payload of depth 65", `{"kind":"a","payload":` + deep(65) + `}`, 422, "*"},
	{"payload of depth 1,000", `{"kind":"a","payload":` + deep(1000) + `}`, 422, "*"},
	{"payload of depth 100,000", `{"kind":"a","payload":` + deep(100_000) + `}`, 422, "*"},
	{"depth outside of a payload", deep(65), 422, "*"},
	{"wrong types", `{"kind":1,"note":2,"count":"3","items":{}}`, 422, "body:/count body:/items body:/kind body:/note"},
	{"broken patterns in a list", `{"kind":"a","items":[{"kind":"a"},{"kind":"A","size":101},{"size":0}]}`, 422,
		"body:/items/1/kind body:/items/1/size body:/items/2/kind body:/items/2/size"},
	{"too many items", `{"kind":"a","items":[{"kind":"a"},{"kind":"a"},{"kind":"a"},{"kind":"a"}]}`, 422, "body:/items"},
	{"names with signs of their own", `{"kind":"a","a.b[0]":1,"c/d~e":2,"%2E":3,"":4}`, 422,
		"body:/ body:/%2E body:/a.b[0] body:/c~1d~0e"},
	{"fraction", `{"kind":"a","count":1.5}`, 422, "body:/count"},
	{"integer with a point", `{"kind":"a","count":1.0}`, 422, "body:/count"},
	{"integer with an exponent", `{"kind":"a","count":1e2}`, 422, "body:/count"},
	{"integer beyond 64 bits", `{"kind":"a","count":9223372036854775808}`, 422, "body:/count"},
	{"greatest integer", `{"kind":"a","count":9223372036854775807}`, 201, ""},
	{"number beyond a float in a payload", `{"kind":"a","payload":[1e400,-1E+999,0.1e-999]}`, 201, ""},
	{"long text", `{"kind":"a","note":"` + strings.Repeat("n", 256) + `"}`, 422, "body:/note"},
	{"text at its bound", `{"kind":"a","note":"` + strings.Repeat("n", 255) + `"}`, 201, ""},
	{"facts that are no object", `{"kind":"a","facts":[]}`, 422, "body:/facts"},
	{"facts", `{"kind":"a","facts":{"A":1,"a":null}}`, 201, ""},
}

func deep(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

func TestBodiesAreStrict(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	for _, tt := range strictBodies {
		t.Run(tt.name, func(t *testing.T) {
			got := e.do(t, "POST", "/v1/things", tt.body)
			if got.Status != tt.status {
				t.Fatalf("status %d, want %d: %s", got.Status, tt.status, got.body)
			}
			if tt.status == 201 || tt.pointers == "*" {
				return
			}
			if p := got.pointers(t); p != tt.pointers {
				t.Errorf("faults %q, want %q", p, tt.pointers)
			}
		})
	}
}

// TestRulesOfAnInputJoinTheFaults: one answer names what breaks the schema,
// what breaks a Checked rule, and the query's faults.
func TestRulesOfAnInputJoinTheFaults(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	body := `{"kind":"A","note":"taboo","items":[{"kind":"b"},{"kind":"taboo"},{"kind":"taboo","size":0}]}`
	const inBody = "body:/items/1/kind body:/items/2/kind body:/items/2/size body:/kind body:/note"
	got := e.do(t, "POST", "/v1/things", body)
	if got.Status != 422 || got.pointers(t) != inBody {
		t.Errorf("status %d, faults %s", got.Status, got.pointers(t))
	}
	got = e.do(t, "POST", "/v1/things?x=1", body)
	if got.Status != 400 || got.pointers(t) != inBody+" query:/x" {
		t.Errorf("with a query: status %d, faults %s", got.Status, got.pointers(t))
	}
	got = e.do(t, "POST", "/v1/things", `{"kind":"quiet","note":"taboo"}`)
	if got.Status != 422 || got.pointers(t) != "body:/note" || e.effectsOf(t, "quiet") != 0 {
		t.Errorf("rule alone: status %d: %s", got.Status, got.body)
	}
}

func TestEmptyBody(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	got := e.do(t, "POST", "/v1/things", "", "Content-Type", "application/json")
	if got.Status != 400 || got.problem(t).Code != "invalid_json" {
		t.Fatalf("status %d: %s", got.Status, got.body)
	}
	if got := e.do(t, "POST", "/v1/secrets", ""); got.Status != 200 {
		t.Errorf("a route without a body refuses none: %d %s", got.Status, got.body)
	}
	if got := e.do(t, "POST", "/v1/secrets", "{}"); got.Status != 200 {
		t.Errorf("a route without a body refuses an empty object: %d %s", got.Status, got.body)
	}
	if got := e.do(t, "POST", "/v1/secrets", `{"name":"x"}`); got.Status != 422 || got.pointers(t) != "body:/name" {
		t.Errorf("a route without a body ignores a member: %d %s", got.Status, got.body)
	}
}

func TestPayloadKeepsItsDigitsAndOrder(t *testing.T) {
	each(t, func(t *testing.T, e *edge) {
		const payload = `{"z":9007199254740993,"n":-9223372036854775808,"u":18446744073709551615,` +
			`"big":123456789012345678901234567890,"f":1.10,"e":1E400,"s":"<&>\u2028 ü","a":null}`
		got := e.do(t, "POST", "/v1/things", `{"kind":"a", "payload": `+strings.ReplaceAll(payload, ",", " , ")+`}`)
		if got.Status != 201 || !strings.Contains(got.body, `"payload":`+payload+`,`) {
			t.Fatalf("status %d, payload changed: %s", got.Status, got.body)
		}
	})
}

func TestContentTypes(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	tests := []struct {
		media  string
		status int
	}{
		{"application/json", 201},
		{"application/json; charset=utf-8", 201},
		{"Application/JSON; charset=\"UTF-8\"", 201},
		{"application/json; charset=utf-16", 415},
		{"application/json; charset=utf-8; version=1", 415},
		{"application/json; version=1", 415},
		{"application/xml", 415},
		{"application/x-www-form-urlencoded", 415},
		{"text/plain", 415},
		{"application/problem+json", 415},
		{"application/json,", 415},
		{"", 415},
	}
	for _, tt := range tests {
		got := e.do(t, "POST", "/v1/things", `{"kind":"a"}`, "Content-Type", tt.media)
		if got.Status != tt.status {
			t.Errorf("%q: status %d, want %d", tt.media, got.Status, tt.status)
		}
	}
}

func zip(t *testing.T, b []byte) string {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCompressedBodiesAreBoundedAfterDecompression(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	small := zip(t, []byte(`{"kind":"a"}`))
	bomb := zip(t, bytes.Repeat([]byte("a"), 90<<20))
	tests := []struct {
		name, body, encoding string
		status               int
	}{
		{"gzip", small, "gzip", 201},
		{"gzip in capitals", small, "GZIP", 201},
		{"gzip bomb", bomb, "gzip", 413},
		{"gzip twice", zip(t, []byte(small)), "gzip, gzip", 415},
		{"gzip in gzip, named once", zip(t, []byte(small)), "gzip", 400},
		{"deflate", small, "deflate", 415},
		{"br", small, "br", 415},
		{"zstd", small, "zstd", 415},
		{"identity", `{"kind":"a"}`, "identity", 415},
		{"not gzip", `{"kind":"a"}`, "gzip", 400},
		{"gzip cut short", small[:len(small)-4], "gzip", 400},
		{"text behind gzip", small + "xyz", "gzip", 400},
	}
	for _, tt := range tests {
		got := e.do(t, "POST", "/v1/things", tt.body, "Content-Encoding", tt.encoding)
		if got.Status != tt.status {
			t.Errorf("%s: status %d, want %d: %s", tt.name, got.Status, tt.status, got.body)
		}
		if tt.status == 413 && !strings.Contains(got.body, `"limit_bytes":1048576`) {
			t.Errorf("%s: the limit is not in the answer: %s", tt.name, got.body)
		}
		if got := e.do(t, "POST", "/v1/things", tt.body, "Content-Encoding", tt.encoding, "Authorization", ""); got.Status != 401 {
			t.Errorf("%s without a token: status %d, want 401", tt.name, got.Status)
		}
	}
}

// sized is a body of exactly n bytes.
func sized(n int, head, tail string) string {
	return head + strings.Repeat(" ", n-len(head)-len(tail)) + tail
}

func TestBodySize(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	for _, tt := range []struct{ size, status int }{
		{web.BodyLimit - 1, 201}, {web.BodyLimit, 201}, {web.BodyLimit + 1, 413}, {3 * web.BodyLimit, 413},
	} {
		if got := e.do(t, "POST", "/v1/things", sized(tt.size, `{"kind":"a"`, `}`)); got.Status != tt.status {
			t.Errorf("%d bytes: status %d, want %d", tt.size, got.Status, tt.status)
		}
		r, err := http.NewRequestWithContext(t.Context(), "POST", e.url+"/v1/things", nil)
		if err != nil {
			t.Fatal(err)
		}
		// Without a length the body is sent in chunks.
		r.Body = struct {
			*strings.Reader
			nopCloser
		}{Reader: strings.NewReader(sized(tt.size, `{"kind":"a"`, `}`))}
		r.Header.Set("Authorization", "Bearer "+adminToken)
		r.Header.Set("Content-Type", "application/json")
		if got := e.send(t, r); got.Status != tt.status {
			t.Errorf("%d bytes in chunks: status %d, want %d", tt.size, got.Status, tt.status)
		}
	}
}

type nopCloser struct{}

func (nopCloser) Close() error { return nil }

func TestFreeFormValuesAreMeasuredCompacted(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	value := func(n int) string { return `"` + strings.Repeat("v", n-2) + `"` }
	tests := []struct {
		body     string
		status   int
		pointers string
	}{
		{`{"kind":"a","payload":` + value(256<<10) + `}`, 201, ""},
		{`{"kind":"a","payload":` + value(256<<10+1) + `}`, 422, "body:/payload"},
		{`{"kind":"a","payload":[` + strings.Repeat(" ", 300<<10) + `1]}`, 201, ""},
		{`{"kind":"a","progress":` + value(16<<10) + `}`, 201, ""},
		{`{"kind":"a","progress":` + value(16<<10+1) + `}`, 422, "body:/progress"},
		{`{"kind":"a","payload":{"progress":` + value(17<<10) + `}}`, 201, ""},
	}
	for i, tt := range tests {
		got := e.do(t, "POST", "/v1/things", tt.body)
		if got.Status != tt.status || (tt.pointers != "" && got.pointers(t) != tt.pointers) {
			t.Errorf("%d: status %d: %.300s", i, got.Status, got.body)
		}
	}
}

func TestTimes(t *testing.T) {
	each(t, func(t *testing.T, e *edge) {
		good := map[string]string{
			"2026-01-15T23:00:00+05:30":      "2026-01-15T17:30:00.000000Z",
			"2026-01-15T23:00:00.1234567Z":   "2026-01-15T23:00:00.123456Z",
			"9999-12-31T23:59:59.999999999Z": "9999-12-31T23:59:59.999999Z",
			"0002-01-01T00:00:00Z":           "0002-01-01T00:00:00.000000Z",
			"2024-02-29T00:00:00-00:00":      "2024-02-29T00:00:00.000000Z",
		}
		for sent, want := range good {
			got := e.do(t, "POST", "/v1/things", fmt.Sprintf(`{"kind":"a","at":%q}`, sent))
			if got.Status != 201 || !strings.Contains(got.body, `"at":"`+want+`"`) {
				t.Errorf("%s: status %d: %s", sent, got.Status, got.body)
			}
		}
		bad := []string{
			`"10000-01-01T00:00:00Z"`, `"infinity"`, `"0000-00-00"`, `"9999-12-31T23:00:00-02:00"`,
			`"0001-12-31T23:59:59Z"`, `"0002-01-01T00:00:00+00:01"`, `"2026-01-15t23:00:00z"`,
			`"2026-01-15T23:00:00"`, `"2026-01-15T23:00:00+0530"`, `"2026-01-15T23:00:00,5Z"`,
			`"2026-01-15T23:00:60Z"`, `"2026-01-15T24:00:00Z"`, `"2026-02-30T00:00:00Z"`, `"2026-02-29T00:00:00Z"`,
			`"2026-01-15 23:00:00Z"`, `"2026-01-15T23:00:00+24:00"`, `"2026-01-15T23:00:00+05:60"`,
			`"2026-01-15T23:00:00.Z"`, `"2026-01-15"`, `"now"`, `""`, `1700000000`,
		}
		for _, sent := range bad {
			got := e.do(t, "POST", "/v1/things", `{"kind":"a","at":`+sent+`}`)
			if got.Status != 422 || got.pointers(t) != "body:/at" {
				t.Errorf("%s: status %d: %s", sent, got.Status, got.body)
			}
		}
	})
}

func TestFaultsDoNotEchoValues(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	got := e.do(t, "POST", "/v1/things", `{"kind":"S3CRET","count":"S3CRET","at":"S3CRET","items":["S3CRET"]}`)
	if got.Status != 422 || strings.Contains(got.body, "S3CRET") {
		t.Fatalf("status %d: %s", got.Status, got.body)
	}
}

func TestEveryFaultOfARequestIsNamedOnce(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	got := e.do(t, "POST", "/v1/things?a=1&b=2", `{"kind":"A","note":"\u0000","x":1,"items":[{"kind":"a","size":0}]}`)
	const want = "body:/items/0/size body:/kind body:/note body:/x query:/a query:/b"
	if got.Status != 400 || got.pointers(t) != want {
		t.Fatalf("status %d, faults %s", got.Status, got.pointers(t))
	}
	if got.problem(t).Code != "invalid_request" {
		t.Errorf("code %s", got.problem(t).Code)
	}
}

func TestManyFaultsAreBounded(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	members := map[string]int{"kind": 1}
	for i := range 20_000 {
		members[fmt.Sprintf("m%d", i)] = i
	}
	body, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	got := e.do(t, "POST", "/v1/things", string(body))
	if n := len(got.problem(t).Errors); got.Status != 422 || n != 1000 {
		t.Fatalf("status %d with %d faults", got.Status, n)
	}
}
