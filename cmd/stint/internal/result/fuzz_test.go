package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
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
	f.Fuzz(compare)
}

// compare has both read the output, one of them in pieces.
func compare(t *testing.T, out []byte, size int) {
	got, warning := scan(&Scanner{max: small}, string(out), max(size, 1))
	want, odd := slow(out)
	if got != want {
		t.Errorf("%q: got %q, want %q", out, got, want)
	}
	if odd != (warning != "") {
		t.Errorf("%q: warning %q", out, warning)
	}
}

func TestTheScannerFindsWhatASlowOneFinds(t *testing.T) {
	t.Parallel()
	g := generator{rand.New(rand.NewPCG(1, 2))}
	for range 20_000 {
		compare(t, []byte(g.output()), 1+g.IntN(8))
		if t.Failed() {
			return
		}
	}
}

// generator makes outputs of texts of which some are broken in one place.
type generator struct{ *rand.Rand }

func (g generator) output() string {
	out := "[7]\n"
	for range 1 + g.IntN(3) {
		text := g.value(3)
		if at := g.IntN(len(text) + 1); g.IntN(2) == 0 {
			text = text[:at] + g.pick("[", "]", "{", "}", ",", ":", "\"", "x", "0", "-", ".", "e", "E+", "\n", "\\", "\\u", "\x01", "\ufeff", "\xef", "\r") + text[at:]
		}
		out += text + g.pick("", " ", "\n", "\n", "\n", "\nx\n", " x\n", ",\n", "\n]\n", "\r\n")
	}
	return out
}

func (g generator) value(depth int) string {
	if depth == 0 || g.IntN(4) == 0 {
		return g.pick("1", "-0.5e+1", "0", "1E9", "true", "null", `"a"`, `"b\"c\\"`, `"\u00eF\n"`)
	}
	array := g.IntN(2) == 0
	var parts []string
	for range g.IntN(4) {
		part := g.white() + g.value(depth-1) + g.white()
		if !array {
			part = g.white() + `"k"` + g.white() + ":" + part
		}
		parts = append(parts, part)
	}
	text := strings.Join(parts, ",")
	if array {
		return "[" + text + g.white() + "]"
	}
	return "{" + text + g.white() + "}"
}

func (g generator) white() string { return g.pick("", "", "", " ", "\n", "\n", "\r\n\t") }

func (g generator) pick(of ...string) string { return of[g.IntN(len(of))] }

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
			if at = lineOf(out, end); len(bytes.Trim(out[at:end], white)) > 0 {
				at = nextLine(out, end)
			}
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

func lineOf(out []byte, at int) int { return bytes.LastIndexByte(out[:at], '\n') + 1 }
