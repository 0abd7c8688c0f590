package repos

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"github.com/stint-run/stint/server/fault"
)

// maxBody bounds the body of a proposal, in bytes.
const maxBody = 64 << 10

// unclear are the faults of a text that tells things apart: white space at an
// end and characters that nobody sees make twins.
func unclear(pointer string, text *string) []fault.Item {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if text == nil || strings.TrimSpace(*text) == *text && !strings.ContainsFunc(*text, hidden) {
		return nil
	}
	return []fault.Item{{Pointer: pointer, Detail: "expected visible characters, and no space at either end"}}
}

// unlinkable are the faults of an address that a console may link. A user part
// is shown before the host, and may look like one.
func unlinkable(pointer string, text *string) []fault.Item {
	if text == nil {
		return nil
	}
	u, err := url.Parse(*text)
	hidden := func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }
	if err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil && !strings.ContainsFunc(*text, hidden) {
		return nil
	}
	return []fault.Item{{Pointer: pointer, Detail: "expected an absolute http or https URL, without a user"}}
}

// overlong are the faults of a proposal's body.
func overlong(pointer string, text *string) []fault.Item {
	if text == nil || len(*text) <= maxBody {
		return nil
	}
	return []fault.Item{{Pointer: pointer, Detail: fmt.Sprintf("expected at most %d bytes", maxBody)}}
}
