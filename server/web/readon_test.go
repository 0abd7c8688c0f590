package web_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/web"
)

// Many clients send all of their body before they read.
func TestAnAnswerArrivesThatWasMadeBeforeTheBodyWasRead(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	for _, tt := range []struct {
		name, path, token, media string
		size                     int
		status                   int
	}{
		{"somewhat too large", "/v1/things", adminToken, "application/json", 2 * web.BodyLimit, 413},
		{"far too large", "/v1/things", adminToken, "application/json", 20 * web.BodyLimit, 413},
		{"an unknown token", "/v1/things", "stint_x", "application/json", 2 * web.BodyLimit, 401},
		{"another form", "/v1/things", adminToken, "text/plain", 2 * web.BodyLimit, 415},
		{"no such route", "/v1/none", adminToken, "application/json", 2 * web.BodyLimit, 404},
		{"a stream of another form", "/v1/lines", adminToken, "text/plain", 20 * web.BodyLimit, 415},
		{"a stream of nobody", "/v1/lines", "stint_x", "application/json", 20 * web.BodyLimit, 401},
		{"a stream that nobody wants", "/v1/lines?end=refuse", adminToken, "application/x-ndjson", 20 * web.BodyLimit, 409},
		{"a stream with a bad parameter", "/v1/lines?end=", adminToken, "application/x-ndjson", 20 * web.BodyLimit, 400},
	} {
		for _, chunked := range []bool{false, true} {
			head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\n", tt.path, tt.token, tt.media)
			if got := sendsAllFirst(t, e.url, head, tt.size, chunked); got != tt.status {
				t.Errorf("%s, chunked %v: status %d, want %d", tt.name, chunked, got, tt.status)
			}
		}
	}
}

// A client that never ends its body is not read for ever.
func TestABodyThatNobodyWantsIsReadToABound(t *testing.T) {
	t.Parallel()
	const most = 64 << 20
	conn, err := net.Dial("tcp", strings.TrimPrefix(one(t, web.Config{}).url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	head := "POST /v1/none HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
	if _, err := fmt.Fprintf(conn, head, 4*most); err != nil {
		t.Fatal(err)
	}
	piece := make([]byte, 1<<20)
	sent := 0
	for err == nil && sent < 4*most {
		var n int
		n, err = conn.Write(piece)
		sent += n
	}
	if sent > 2*most { // what is on the way is not read
		t.Errorf("%d MiB were taken, and then %v", sent>>20, err)
	}
}

// sendsAllFirst sends a request with a body of spaces, and then reads the answer's status.
func sendsAllFirst(t *testing.T, url, head string, size int, chunked bool) int {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const piece = 64 << 10
	before, after, last := "", "", ""
	length := fmt.Sprintf("Content-Length: %d\r\n", size)
	if chunked {
		length, before, after, last = "Transfer-Encoding: chunked\r\n", fmt.Sprintf("%x\r\n", piece), "\r\n", "0\r\n\r\n"
	}
	text := head + length + "\r\n"
	for range size / piece {
		if _, err := io.WriteString(conn, text+before+strings.Repeat(" ", piece)+after); err != nil {
			t.Errorf("the connection ends before all was sent: %v", err)
			return 0
		}
		text = ""
	}
	if _, err := io.WriteString(conn, last); err != nil {
		t.Error(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Error(err)
		return 0
	}
	answer.Body.Close()
	return answer.StatusCode
}
