package web

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// CleanText is a text member of a request body that is never refused for what it
// holds or for its length: NUL and lone surrogates become U+FFFD, and it is cut at
// the bound that it names, maxBytes:"4096", or only at the body's, maxBytes:"body". A
// text that was cut says so at its end.
// It is for the reports of workers, which must not fail for a byte of an output.
type CleanText string

var cleanText = reflect.TypeFor[CleanText]()

// cleaning holds the members of the type CleanText by their schemas, with their
// bounds in bytes; 0 leaves it to the body's.
type cleaning map[*huma.Schema]int

// cleanNote is what the document says of each CleanText.
const cleanNote = "NUL and lone surrogates become U+FFFD."

// note has the gate clean a member, and the document say so.
func (c cleaning) note(member *huma.Schema, bound int) {
	c[member] = bound
	member.Description = strings.TrimSpace(member.Description + " " + cleanNote)
}

// cleaned reads a text and writes it as it may be stored. The value for the schema
// is empty: that it is a text is all that is checked.
func (g *gate) cleaned(limit int) (any, error) {
	began := len(g.out)
	s, _, err := g.text()
	if err != nil {
		return "", err
	}
	s = strings.ReplaceAll(s, "\x00", "\ufffd") // lone surrogates became U+FFFD when it was decoded
	if limit > 0 {
		s = cut(s, limit)
	}
	text, err := json.Marshal(s)
	g.out = append(g.out[:began], text...)
	return "", err
}

// cut is s within n bytes, ending with a whole character and a word on how much is
// missing, if that has room.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	mark := cutMark(len(s))
	if len(mark) > n {
		mark = ""
	}
	n -= len(mark)
	for n > 0 && s[n]&0xC0 == 0x80 { // within a character
		n--
	}
	if mark != "" {
		mark = cutMark(len(s) - n)
	}
	return s[:n] + mark
}

func cutMark(missing int) string { return fmt.Sprintf("… [%d bytes cut]", missing) }
