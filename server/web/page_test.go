package web_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/web"
)

type thingPage struct {
	Data []struct {
		ID string `json:"id"`
		At string `json:"at"`
	} `json:"data"`
	HasMore    bool    `json:"has_more"`
	NextCursor *string `json:"next_cursor"`
}

func (e *edge) page(t *testing.T, query string, headers ...string) (thingPage, answer) {
	t.Helper()
	got := e.do(t, "GET", "/v1/things?"+query, "", headers...)
	var p thingPage
	if got.Status == 200 {
		if err := json.Unmarshal([]byte(got.body), &p); err != nil {
			t.Fatal(err)
		}
	}
	return p, got
}

func TestPagesShowEveryItemOnce(t *testing.T) {
	each(t, func(t *testing.T, e *edge) {
		seen := map[string]bool{}
		target, pages := "/v1/things?limit=7", 0
		for {
			var p thingPage
			got := e.do(t, "GET", target, "")
			if err := json.Unmarshal([]byte(got.body), &p); err != nil || got.Status != 200 {
				t.Fatalf("status %d, %v: %s", got.Status, err, got.body)
			}
			pages++
			for _, item := range p.Data {
				seen[item.At+item.ID] = true
			}
			link := got.Header.Get("Link")
			if p.HasMore != (p.NextCursor != nil) || p.HasMore != (link != "") {
				t.Fatalf("has_more, next_cursor and Link disagree: %s, %q", got.body, link)
			}
			if !p.HasMore {
				break
			}
			target = strings.TrimSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
			if !strings.Contains(target, "limit=7") || !strings.HasPrefix(target, "/v1/things?") {
				t.Fatalf("the next page is %q", target)
			}
		}
		if len(seen) != 120 || pages != 18 {
			t.Fatalf("%d of 120 items on %d pages", len(seen), pages)
		}
	})
}

func TestCursorsBelongToOneListFilterAndOwner(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	p, _ := e.page(t, "limit=5&state=pending&state=done&kind=a")
	cursor := "&cursor=" + url.QueryEscape(*p.NextCursor)
	for _, same := range []string{"limit=9&state=pending&state=done&kind=a", "kind=a&state=done&state=pending", "state=done&kind=a&state=pending&limit=200"} {
		if _, got := e.page(t, same+cursor); got.Status != 200 {
			t.Errorf("%s: status %d: %s", same, got.Status, got.body)
		}
	}
	for _, other := range []string{"state=pending", "state=done&kind=a", "kind=b&state=pending&state=done", "limit=5", "state=pending&state=done&kind=a&since=2026-01-15T23:00:00Z"} {
		if _, got := e.page(t, other+cursor); got.Status != 400 || got.problem(t).Code != "invalid_cursor" {
			t.Errorf("%s: status %d: %s", other, got.Status, got.body)
		}
	}
	if _, got := e.page(t, "limit=5&state=pending&state=done&kind=a"+cursor, "Authorization", "Bearer stint_bob"); got.Status != 400 {
		t.Errorf("another owner's cursor: status %d", got.Status)
	}
}

func TestJunkCursorsAreRefused(t *testing.T) {
	each(t, func(t *testing.T, e *edge) {
		first, _ := e.page(t, "limit=5")
		valid := *first.NextCursor
		junk := []string{
			"%00", "AAAA", "%ff", "e30", "eyJjb2x1bW4iOiIxO3NlbGVjdCBwZ19zbGVlcCg1KSJ9", valid + "=", valid + "A", valid + "%0A",
			valid[1:], valid[:len(valid)-2], "+" + valid[1:], "%2F" + valid[1:], strings.Repeat("A", 100_000), strings.ToUpper(valid),
		}
		for _, cursor := range junk {
			_, got := e.page(t, "limit=5&cursor="+cursor)
			if got.Status != 400 || strings.Contains(got.body, "SQL") {
				t.Errorf("%.40s: status %d: %.300s", cursor, got.Status, got.body)
			}
		}
		if _, got := e.page(t, "cursor="); got.Status != 400 {
			t.Errorf("an empty cursor: status %d", got.Status)
		}
	})
}

func TestVersions(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	if got := e.do(t, "GET", "/v1/things/a", ""); got.Header.Get("ETag") != `"v3"` {
		t.Errorf("ETag %q", got.Header.Get("ETag"))
	}
	for tag, want := range map[string]int{`"v3"`: 304, `W/"v3"`: 304, `"v1", "v3"`: 304, `*`: 304, `"v4"`: 200, `v3`: 200} {
		got := e.do(t, "GET", "/v1/things/a", "", "If-None-Match", tag)
		if got.Status != want || (want == 304 && got.body != "") {
			t.Errorf("If-None-Match %s: status %d", tag, got.Status)
		}
	}
	for tag, want := range map[string]int{`"v3"`: 200, `"v1","v3"`: 200, `*`: 200, `"v4"`: 412, `W/"v3"`: 412, `v3`: 412, `"v3-1f"`: 200, `"v3-1f`: 412, `"v3-`: 412, ``: 428} {
		got := e.do(t, "PATCH", "/v1/things/a", "", "If-Match", tag)
		if got.Status != want || (want == 200 && got.Header.Get("ETag") != `"v4"`) {
			t.Errorf("If-Match %s: status %d: %s", tag, got.Status, got.body)
		}
	}
}
