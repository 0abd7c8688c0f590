package conformance

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/stint-run/stint/server/fault"
)

const (
	maxBody   = 1 << 20
	maxResult = 256 << 10
)

// check is the code of the problem that the API has with a request, if any; the
// faults go onto the tape.
func (t *trial) check(c *call) (code string) {
	if c.action == "readyz" {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	bad := func(code, text string) string {
		c.faults = append(c.faults, text)
		return code
	}
	s, known := t.doc.body(c.method, c.path)
	media, _, _ := mime.ParseMediaType(c.header.Get("Content-Type"))
	switch {
	case !known:
		return bad("not_found", "there is no such route")
	case c.header.Get("Authorization") != "Bearer "+t.token:
		return bad("unauthorized", "no header Authorization: Bearer with the token of STINT_TOKEN")
	case c.method != http.MethodPost:
		return ""
	case media != "application/json":
		return bad("unsupported_media_type", "Content-Type is "+strconv.Quote(media))
	case len(c.raw) > maxBody:
		return bad("body_too_large", "the body is larger than 1 MiB")
	case !utf8.Valid(c.raw) || c.body == nil:
		return bad("invalid_json", "the body is not an object of JSON in UTF-8")
	}
	c.faults = t.doc.faults(s, "", c.body)
	c.faults = append(c.faults, resultFaults(c.raw)...)
	if len(c.faults) > 0 {
		return "validation_failed"
	}
	return ""
}

// resultFaults are those of a result that the document does not tell.
func resultFaults(raw []byte) (all []string) {
	var body struct{ Result json.RawMessage }
	var compact bytes.Buffer
	if json.Unmarshal(raw, &body) != nil || json.Compact(&compact, body.Result) != nil {
		return nil
	}
	if compact.Len() > maxResult {
		all = append(all, "/result: larger than 256 KiB")
	}
	if bytes.Contains(compact.Bytes(), []byte(`\u0000`)) {
		all = append(all, "/result: a text holds U+0000")
	}
	return all
}

// items are faults as a problem names them.
func items(faults []string) (all []any) {
	for _, one := range faults {
		pointer, detail, ok := strings.Cut(one, ": ")
		if !ok {
			pointer, detail = "", one
		}
		all = append(all, map[string]any{"in": fault.InBody, "pointer": pointer, "detail": detail})
	}
	return all
}
