package ndjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// bound of a part in these tests.
const bound = 8

// parts are the texts of all parts with their indexes, and how the body ended.
func parts(t testing.TB, items Items) (all []string, err error) {
	t.Helper()
	last := int64(-1)
	for {
		it, err := items.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		if it.Index <= last || (it.Raw == nil) != (it.Size > bound) || it.Raw != nil && int64(len(it.Raw)) != it.Size {
			t.Fatalf("a part is %+v after %d", it, last)
		}
		last = it.Index
		text := fmt.Sprintf("%d:%s", it.Index, it.Raw)
		if it.Raw == nil {
			text = fmt.Sprintf("%d of %d", it.Index, it.Size)
		}
		all = append(all, text)
	}
}

func TestLinesEndAtNewlinesAndAtTheEnd(t *testing.T) {
	for _, tt := range []struct{ body, want string }{
		{"", ""},
		{"\n", ""},
		{"a", "0:a"},
		{"a\nb\n", "0:a|1:b"},
		{"a\r\nb\r", "0:a|1:b"},
		{"a\n\n \t\r\nb", "0:a|3:b"},
		{"a\rb\n", "0:a\rb"},
		{"\ufeffa\n", "0:\ufeffa"},
		{" a \n", "0: a "},
		{"\x00\n", "0:\x00"},
		{"12345678\r\n12345678", "0:12345678|1:12345678"},
		{"123456789\nb", "0 of 9|1:b"},
		{"12345678\r9\nb", "0 of 10|1:b"},
		{strings.Repeat("x", 3*readSize) + "\nb", fmt.Sprintf("0 of %d|1:b", 3*readSize)},
	} {
		got, err := parts(t, Lines(strings.NewReader(tt.body), bound))
		if strings.Join(got, "|") != tt.want || err != nil {
			t.Errorf("%.20q is %q, %v; want %q", tt.body, got, err, tt.want)
		}
	}
}

func TestElementsAreSplitByStructureAlone(t *testing.T) {
	for _, tt := range []struct{ body, want, wrong string }{
		{"[]", "", ""},
		{" [ ] \n", "", ""},
		{"[1]", "0:1", ""},
		{"[ 1 ,\n\"a\" ]", `0:1|1:"a"`, ""},
		{`["]","\"]"]`, `0:"]"|1:"\"]"`, ""},
		{`["\\",[2]]`, `0:"\\"|1:[2]`, ""},
		{`[{"a":[]}]`, `0:{"a":[]}`, ""},
		{`[1 2,{]]`, "0:1 2|1:{]", ""},
		{"[12345678" + strings.Repeat(" ", 3*readSize) + ",2]", "0:12345678|1:2", ""},
		{"[123456789,2]", "0 of 9|1:2", ""},
		{"[" + strings.Repeat("x", 3*readSize) + " ,2]", fmt.Sprintf("0 of %d|1:2", 3*readSize), ""},

		{"", "", "the body is empty, in element 0 at byte 0"},
		{" \n", "", "the body is empty, in element 0 at byte 2"},
		{"\ufeff[1]", "", "the body is not a JSON array, in element 0 at byte 0"},
		{`{"a":1}`, "", "the body is not a JSON array, in element 0 at byte 0"},
		{"[", "", "the array is not closed, in element 0 at byte 1"},
		{"[1", "", "the array is not closed, in element 0 at byte 2"},
		{"[1,", "0:1", "the array is not closed, in element 1 at byte 3"},
		{`[1,"a]`, "0:1", "the array is not closed, in element 1 at byte 6"},
		{"[,1]", "", "an element is missing, in element 0 at byte 1"},
		{"[1,]", "0:1", "an element is missing, in element 1 at byte 3"},
		{"[1,,2]", "0:1", "an element is missing, in element 1 at byte 3"},
		{"[1] x", "0:1", "text follows the array, in element 1 at byte 4"},
		{"[][", "", "text follows the array, in element 0 at byte 2"},
	} {
		got, err := parts(t, Elements(strings.NewReader(tt.body), bound))
		if strings.Join(got, "|") != tt.want || (err == nil) != (tt.wrong == "") || err != nil && err.Error() != tt.wrong {
			t.Errorf("%.20q is %q, %v; want %q, %s", tt.body, got, err, tt.want, tt.wrong)
		}
	}
}

// A part that the connection's end cuts off is not taken for a whole one.
func TestReadersErrorCutsOffTheLastPart(t *testing.T) {
	lost := errors.New("lost")
	for _, split := range []func(io.Reader, int) Items{Lines, Elements} {
		body := io.MultiReader(strings.NewReader("[1\n,2"), iotest.ErrReader(lost))
		if got, err := parts(t, split(body, bound)); len(got) != 1 || !errors.Is(err, lost) {
			t.Errorf("got %q, %v", got, err)
		}
	}
}

// However a body arrives, its lines are those between its newlines.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{"", "a\nb", "\r\n", "x\r\r\n", "123456789\r\n", "\n\n \n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var want []string
		for i, line := range bytes.Split(body, []byte("\n")) {
			line = bytes.TrimSuffix(line, []byte("\r"))
			if len(bytes.Trim(line, " \t\r\n")) == 0 && len(line) <= bound {
				continue
			}
			if len(line) > bound {
				want = append(want, fmt.Sprintf("%d is long", i))
				continue
			}
			want = append(want, fmt.Sprintf("%d:%s", i, line))
		}
		for _, r := range []io.Reader{bytes.NewReader(body), iotest.OneByteReader(bytes.NewReader(body))} {
			got, err := parts(t, Lines(r, bound))
			for i, text := range got {
				if at, _, long := strings.Cut(text, " of "); long && !strings.Contains(at, ":") {
					got[i] = at + " is long"
				}
			}
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("%q is %q, %v; want %q", body, got, err, want)
			}
		}
	})
}

// The elements of an array are those that encoding/json sees; what it refuses is
// split the same way however it arrives, and never without an end.
func FuzzElements(f *testing.F) {
	for _, seed := range []string{"[]", `[1,"a",{"b":[]}]`, `["\\\"",null]`, "[1 2]", "[1,]", "[{]", `["a`, "[1]x", `[ true , [ ] ]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := parts(t, Elements(bytes.NewReader(body), bound))
		slow, slowErr := parts(t, Elements(iotest.OneByteReader(bytes.NewReader(body)), bound))
		if !slices.Equal(got, slow) || fmt.Sprint(err) != fmt.Sprint(slowErr) {
			t.Fatalf("%q is %q, %v at once and %q, %v byte by byte", body, got, err, slow, slowErr)
		}
		var elements []json.RawMessage
		if json.Unmarshal(body, &elements) != nil || elements == nil {
			return
		}
		var want []string
		for i, raw := range elements {
			if len(raw) > bound {
				want = append(want, fmt.Sprintf("%d of %d", i, len(raw)))
				continue
			}
			want = append(want, fmt.Sprintf("%d:%s", i, raw))
		}
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q is %q, %v; want %q", body, got, err, want)
		}
	})
}
