package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/server/apitest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestWireFormOfEveryRoute compares one answer of each route, down to the order
// of its members, with what clients have been promised. Both engines have the
// same files. With -update they are written anew.
func TestWireFormOfEveryRoute(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		eachRoute(t, s, func(t *testing.T, o operation, c *apitest.Client, _ string) {
			to := rows[o.id](c)
			got := exchange(o, to, o.send(c, to))
			file := filepath.Join("testdata", o.id+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s %s (- golden, + answered):\n%s", o.method, o.path, diff)
			}
		})
	})
}

// exchange is a request and its answer as a golden file shows them.
func exchange(o operation, to target, a apitest.Answer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s%s\n", o.method, o.to(to), to.query)
	for i := 0; i+1 < len(to.headers); i += 2 {
		fmt.Fprintf(&b, "%s: %s\n", to.headers[i], to.headers[i+1])
	}
	if to.body != "" {
		fmt.Fprintf(&b, "\n%s\n", to.body)
	}
	fmt.Fprintf(&b, "\n%d\n", a.Status)
	for _, name := range slices.Sorted(maps.Keys(a.Header)) {
		switch name {
		case "Date", "Content-Length", "X-Request-Id", "Server-Timing":
		default:
			fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(a.Header[name], " | "))
		}
	}
	b.WriteString("\n" + indented(named(a.Body, to.names)))
	return normal(b.String())
}

// named is a list without the entries whose name is not among those given; with
// none given it stays as it is.
func named(body []byte, names []string) []byte {
	var list struct{ Data []json.RawMessage }
	if names == nil || json.Unmarshal(body, &list) != nil {
		return body
	}
	for _, entry := range list.Data {
		var e struct{ Name string }
		if json.Unmarshal(entry, &e) == nil && !slices.Contains(names, e.Name) {
			body = bytes.Replace(body, slices.Concat(entry, []byte(",")), nil, 1)
			body = bytes.Replace(body, slices.Concat([]byte(","), entry), nil, 1)
		}
	}
	return body
}

// indented is JSON, one member a line, in the order of the wire.
func indented(text []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, text, "", "  ") != nil {
		return string(text)
	}
	return b.String()
}

var (
	times   = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"`)
	cursors = regexp.MustCompile(`(next_cursor": "|next_since": "|cursor=)[A-Za-z0-9_-]{20,}`)
	texts   = regexp.MustCompile(`stint_(session_|login_)?[0-9A-Za-z]{33}`)
	leases  = regexp.MustCompile(`[A-Z2-7]{26}\.(job_)`)
	links   = regexp.MustCompile(`link_[0-9a-f]{32}`)
	uuids   = regexp.MustCompile(`([a-z]+)_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
	holders = regexp.MustCompile(`("holder": ")[^"]+-\d+-[a-z2-7]{8}"`)
	counted = regexp.MustCompile(`(kind|owner)-\d+`)
	reqIDs  = regexp.MustCompile(`req_[0-9a-f-]{36}`)
)

// normal replaces what differs from run to run. Ids are numbered in the order
// in which they come, so that it shows which are the same. A time that is not
// in the one form stays, and so differs.
func normal(text string) string {
	text = times.ReplaceAllString(text, `"<time>"`)
	text = cursors.ReplaceAllString(text, `${1}<cursor>`)
	text = texts.ReplaceAllString(text, "<token>")
	text = leases.ReplaceAllString(text, "<lease>.$1")
	text = reqIDs.ReplaceAllString(text, "<request>")
	text = holders.ReplaceAllString(text, `${1}<holder>"`)
	text = links.ReplaceAllString(text, "link_<id>")
	text = counted.ReplaceAllString(text, "$1-n")
	seen := map[string]string{}
	return uuids.ReplaceAllStringFunc(text, func(id string) string {
		if seen[id] == "" {
			prefix, _, _ := strings.Cut(id, "_")
			seen[id] = fmt.Sprintf("%s_<%d>", prefix, len(seen)+1)
		}
		return seen[id]
	})
}
