package datum_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stint-run/stint/server/datum"
)

// node is a JSON value before it is spelled.
type node struct {
	kind   byte // n, t, f, d, s, a or o
	text   string
	digits int64
	power  int
	names  []string // of the members; children are their values
	child  []*node
}

func nodes(depth int) *rapid.Generator[*node] {
	return rapid.Custom(func(t *rapid.T) *node {
		kinds := []byte("ntfdsao")
		if depth == 0 {
			kinds = kinds[:5]
		}
		n := &node{kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
		switch n.kind {
		case 'd':
			n.digits, n.power = rapid.Int64Range(-1e15, 1e15).Draw(t, "digits"), rapid.IntRange(-30, 30).Draw(t, "power")
		case 's':
			n.text = rapid.StringOfN(rapid.SampledFrom([]rune(`aB1"\/é€𝄞 `)), 0, 6, -1).Draw(t, "text")
		case 'a':
			n.child = rapid.SliceOfN(nodes(depth-1), 0, 4).Draw(t, "elements")
		case 'o':
			n.fill(t, depth)
		}
		return n
	})
}

func (n *node) fill(t *rapid.T, depth int) {
	n.names = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"", "a", "b", "A", "é", `"`, "aa"}), 0, 4, rapid.ID).Draw(t, "names")
	for range n.names {
		n.child = append(n.child, nodes(depth-1).Draw(t, "value"))
	}
}

// spell writes the value in one of the ways in which it can be written.
func (n *node) spell(t *rapid.T) string {
	blank := rapid.SampledFrom([]string{"", "", " ", "\n\t"}).Draw(t, "blank")
	switch n.kind {
	case 'n', 't', 'f':
		return map[byte]string{'n': "null", 't': "true", 'f': "false"}[n.kind]
	case 'd':
		return n.number(t)
	case 's':
		return spellText(t, n.text)
	case 'a':
		parts := make([]string, len(n.child))
		for i, c := range n.child {
			parts[i] = blank + c.spell(t) + blank
		}
		return "[" + blank + strings.Join(parts, ",") + "]"
	}
	parts := make([]string, len(n.child))
	for i, c := range n.child {
		parts[i] = blank + spellText(t, n.names[i]) + blank + ":" + blank + c.spell(t)
	}
	return "{" + strings.Join(rapid.Permutation(parts).Draw(t, "order"), ",") + blank + "}"
}

func (n *node) number(t *rapid.T) string {
	digits, power := strconv.FormatInt(n.digits, 10), n.power
	spelling := rapid.IntRange(0, 2).Draw(t, "spelling")
	if n.digits == 0 {
		spelling = 1
	}
	switch spelling {
	case 0:
		digits, power = digits+"000", power-3
	case 1:
		zeros := rapid.IntRange(0, 3).Draw(t, "zeros")
		digits += "." + strings.Repeat("0", zeros)
		digits = strings.TrimSuffix(digits, ".")
	}
	if n.digits == 0 {
		power = rapid.IntRange(-5, 5).Draw(t, "of zero")
	}
	return digits + rapid.SampledFrom([]string{"e", "E"}).Draw(t, "e") + fmt.Sprintf(rapid.SampledFrom([]string{"%d", "%+d", "%03d"}).Draw(t, "form"), power)
}

func spellText(t *rapid.T, text string) string {
	quoted, _ := json.Marshal(text)
	if !rapid.Bool().Draw(t, "escaped") {
		return string(quoted)
	}
	var b strings.Builder
	for _, r := range text {
		if r < 0x10000 {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			part, _ := json.Marshal(string(r))
			b.Write(part[1 : len(part)-1])
		}
	}
	return `"` + b.String() + `"`
}

// change changes one value somewhere below, to one that differs.
func (n *node) change(t *rapid.T) {
	if len(n.child) > 0 && rapid.IntRange(0, 3).Draw(t, "here") > 0 {
		n.child[rapid.IntRange(0, len(n.child)-1).Draw(t, "which")].change(t)
		return
	}
	switch n.kind {
	case 'd':
		n.digits = n.digits*10 + 1 // ends in a 1 that the number had not, at its place
		n.power--
	case 's':
		n.text += "x"
	case 'n', 't', 'f':
		n.kind = map[byte]byte{'n': 't', 't': 'f', 'f': 'n'}[n.kind]
	case 'a':
		n.child = append(n.child, &node{kind: 'n'})
	case 'o':
		n.names, n.child = append(n.names, "added"), append(n.child, &node{kind: 'n'})
	}
}

func TestHashFollowsValuesAndNothingElse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		root := &node{kind: 'o'}
		root.fill(t, 4)
		first, again := root.spell(t), root.spell(t)
		hash := hashOf(t, first)
		if got := hashOf(t, again); got != hash {
			t.Fatalf("%s is %s, but %s is %s", first, hash, again, got)
		}
		root.change(t)
		if changed := root.spell(t); hashOf(t, changed) == hash {
			t.Fatalf("%s and %s have one hash", first, changed)
		}
	})
}

func hashOf(t *rapid.T, text string) string {
	if !json.Valid([]byte(text)) {
		t.Fatalf("the test wrote %q", text)
	}
	d, err := datum.Of([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return d.Hash
}

// FuzzOf: whatever is a JSON object is taken, in any spelling as the same; what is
// not may be taken, and breaks nothing.
func FuzzOf(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[1,-2.5e3,"x\u00e9",null,true]}`, `{"b":{"a":1e999},"a":"2024-05-06"}`, `{"a":`, `{"a":-}`, `{"a":"\`, `[`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := datum.Of(data)
		var members map[string]any
		if err != nil {
			if json.Unmarshal(data, &members) == nil && members != nil {
				t.Fatalf("%q is refused", data)
			}
			return
		}
		_, _ = d.Key([]string{"a"})
		_, _ = d.Instant("a")
		if len(d.Search) > datum.MaxSearch {
			t.Fatalf("search text of %d bytes", len(d.Search))
		}
	})
}
