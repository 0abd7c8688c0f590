package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"
)

// small is a bound that generated outputs reach.
const small = 48

// FuzzScanner compares the scanner with what encoding/json finds when it is asked
// at the beginning of each line.
func FuzzScanner(f *testing.F) {
	for _, seed := range []string{
		"", "1\n", "{\"a\":1}\n", "[\n[1]\n", "[\n[1]\n]x\n{}\ny", "[1,\n{\"a\":\n[2]\n}\n,x\n", "\ufeff[1]\n\ufeff\n",
		"{\"a\":[\n1\n]\n", "[\n[2] x\n,", "{\n\"a\"\n[1]\n", "[[\n[3]\n,\n[4]\n\n,]\n", "tru\nnull\n", "-\n0.\n[0.1e5]\nx",
		"[\"" + "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" + "\"]\n[1]\n", "[\n[\"\\u00e4\"]\n\"\\x\"]", "[\n{\"a\":\n[1]\n} x\n",
	} {
		f.Add([]byte(seed), 3)
	}
	f.Fuzz(func(t *testing.T, out []byte, size int) {
		s := &Scanner{max: small}
		got, warning := scan(s, string(out), max(size, 1))
		want, odd := slow(out)
		if got != want {
			t.Errorf("%q: got %q, want %q", out, got, want)
		}
		if odd != (warning != "") {
			t.Errorf("%q: warning %q", out, warning)
		}
	})
}

// slow is the scanner's oracle.
func slow(out []byte) (text string, odd bool) {
	const white = " \t\r\n"
	var best []byte
	for at := 0; at < len(out); {
		begin := at + indent(out[at:])
		if begin == len(out) || !begins(out[begin]) {
			at = nextLine(out, begin)
			continue
		}
		end, err := parse(out[begin:])
		end += begin
		rest := out[end:]
		switch {
		case err == io.ErrUnexpectedEOF:
			return "", true
		case err != nil && end-begin > small:
			best = nil
			if !firstOfLine(out, end) {
				end = nextLine(out, end)
			}
			at = end
		case err != nil:
			at = nextLine(out, begin)
		case end-begin > small:
			best = nil
			if len(bytes.Trim(rest, white)) == 0 {
				return "", true
			}
			at = nextLine(out, end)
		case len(bytes.Trim(rest, white)) == 0:
			return checkedText(out[begin:end], false)
		default:
			line, _, _ := bytes.Cut(rest, []byte("\n"))
			if len(bytes.Trim(line, white)) == 0 && (out[begin] == '{' || out[begin] == '[') {
				best = out[begin:end]
			}
			at = nextLine(out, end)
		}
	}
	if best != nil {
		return checkedText(best, true)
	}
	return "", len(bytes.Trim(out, white)) > 0
}

func checkedText(text []byte, odd bool) (string, bool) {
	if Check(text) != nil {
		return "", true
	}
	return string(text), odd
}

// parse is where the text ends, or the byte at which it turns out to be none.
func parse(b []byte) (end int, err error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	var value json.RawMessage
	err = dec.Decode(&value)
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		return int(wrong.Offset) - 1, err
	}
	return int(dec.InputOffset()), err
}

// indent is how many blanks and marks stand before a line's text.
func indent(line []byte) int {
	rest := bytes.TrimLeft(bytes.TrimPrefix(line, []byte("\ufeff")), " \t\r")
	return len(line) - len(rest)
}

func nextLine(out []byte, at int) int {
	if n := bytes.IndexByte(out[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(out)
}

func firstOfLine(out []byte, at int) bool {
	line := out[bytes.LastIndexByte(out[:at], '\n')+1 : at]
	return len(bytes.Trim(line, " \t\r")) == 0
}
