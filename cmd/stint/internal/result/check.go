package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// maxDepth is how many objects and arrays the server takes, one in the other.
const maxDepth = 64

// Check tells why a text cannot be a result, as a phrase that follows the name of
// the text. The server alone checks some rules: no NUL, no lone surrogate, no member
// twice.
func Check(text []byte) error {
	switch {
	case len(text) > Max:
		return fmt.Errorf("is larger than %d KiB", Max>>10)
	case !json.Valid(text):
		return errors.New("is not JSON")
	case !utf8.Valid(text):
		return errors.New("is not UTF-8")
	case depth(text) > maxDepth:
		return fmt.Errorf("is nested deeper than %d", maxDepth)
	}
	return nil
}

// depth is how many brackets of valid JSON are open at once, at most.
func depth(text []byte) (deepest int) {
	open, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			open++
			deepest = max(deepest, open)
		case c == '}', c == ']':
			open--
		}
	}
	return deepest
}
