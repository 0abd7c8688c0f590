package datum

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"slices"
)

// walker reads data once and writes its canonical form, of which the hash is
// made, beside its search text. In that form each value begins with a letter of
// its kind, texts have their length before them, and members are sorted by name:
// two data have one form only if they are equal.
type walker struct {
	src     []byte
	pos     int
	canon   []byte
	search  []byte
	members []member // of the objects that are open
	spare   []byte
}

// member is one member of an object in the canonical form: from begin to end,
// its name included.
type member struct {
	name       string
	begin, end int
}

func (w *walker) walk(data []byte) ([]field, error) {
	w.src, w.pos, w.canon, w.search, w.members = data, 0, w.canon[:0], w.search[:0], w.members[:0]
	defer func() { w.src = nil }()
	w.space()
	if w.peek() != '{' {
		return nil, errSyntax
	}
	fields := make([]field, 0, 16)
	err := w.object(func(name string, value []byte) { fields = append(fields, field{name, value}) })
	if w.space(); err == nil && w.pos != len(data) {
		err = errSyntax
	}
	return fields, err
}

func (w *walker) space() {
	for w.pos < len(w.src) && (w.src[w.pos] == ' ' || w.src[w.pos] == '\n' || w.src[w.pos] == '\r' || w.src[w.pos] == '\t') {
		w.pos++
	}
}

// peek is the next byte; 0 at the end, which no value begins with.
func (w *walker) peek() byte {
	if w.pos < len(w.src) {
		return w.src[w.pos]
	}
	return 0
}

// words are the values without a form of their own, by their first byte.
var words = map[byte]string{'t': "true", 'f': "false", 'n': "null"}

func (w *walker) value() error {
	switch c := w.peek(); {
	case c == '{':
		return w.object(nil)
	case c == '[':
		return w.array()
	case c == '"':
		text, err := w.text()
		w.canon = appendText(append(w.canon, 's'), text)
		w.search = appendLine(w.search, text)
		return err
	case c == '-', '0' <= c && c <= '9':
		n := numberLength(w.src[w.pos:])
		w.canon = parseNumber(w.src[w.pos : w.pos+n]).append(append(w.canon, 'd'))
		w.search = appendLine(w.search, w.src[w.pos:w.pos+n])
		w.pos += n
		return nil
	default:
		word := words[c]
		if word == "" || !bytes.HasPrefix(w.src[w.pos:], []byte(word)) {
			return errSyntax
		}
		w.pos += len(word)
		w.canon = append(w.canon, c)
		return nil
	}
}

// list reads elements up to the closing bracket.
func (w *walker) list(closing byte, element func() error) error {
	w.pos++
	if w.space(); w.peek() == closing {
		w.pos++
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		w.space()
		switch w.peek() {
		case closing:
			w.pos++
			return nil
		case ',':
			w.pos++
			w.space()
		default:
			return errSyntax
		}
	}
}

func (w *walker) array() error {
	w.canon = append(w.canon, '[')
	err := w.list(']', w.value)
	w.canon = append(w.canon, ']')
	return err
}

// object calls seen, if there is one, with each member as it is written.
func (w *walker) object(seen func(name string, value []byte)) error {
	w.canon = append(w.canon, '{')
	first := len(w.members)
	err := w.list('}', func() error {
		m, value, err := w.member()
		w.members = append(w.members, m)
		if seen != nil {
			seen(m.name, value)
		}
		return err
	})
	if err != nil {
		return err
	}
	w.sort(w.members[first:])
	w.members = w.members[:first]
	w.canon = append(w.canon, '}')
	return nil
}

func (w *walker) member() (m member, value []byte, err error) {
	if w.peek() != '"' {
		return m, nil, errSyntax
	}
	name, err := w.text()
	if err != nil {
		return m, nil, err
	}
	m = member{name: string(name), begin: len(w.canon)}
	w.canon = appendText(w.canon, name)
	if w.space(); w.peek() != ':' {
		return m, nil, errSyntax
	}
	w.pos++
	w.space()
	begin := w.pos
	err = w.value()
	m.end = len(w.canon)
	return m, w.src[begin:w.pos], err
}

// sort brings the last members of the canonical form into the order of their names.
func (w *walker) sort(members []member) {
	byName := func(a, b member) int { return cmp.Compare(a.name, b.name) }
	if slices.IsSortedFunc(members, byName) {
		return
	}
	begin := members[0].begin
	slices.SortStableFunc(members, byName)
	w.spare = w.spare[:0]
	for _, m := range members {
		w.spare = append(w.spare, w.canon[m.begin:m.end]...)
	}
	copy(w.canon[begin:], w.spare)
}

// text reads a string; the result is good until the data is.
func (w *walker) text() ([]byte, error) {
	rest := w.src[w.pos+1:]
	for i, c := range rest {
		switch c {
		case '"':
			w.pos += i + 2
			return rest[:i], nil
		case '\\':
			return w.escaped()
		}
	}
	return nil, errSyntax
}

// escaped reads a string that has escapes.
func (w *walker) escaped() ([]byte, error) {
	for i := w.pos + 1; i < len(w.src); i++ {
		switch w.src[i] {
		case '\\':
			i++
		case '"':
			var s string
			if json.Unmarshal(w.src[w.pos:i+1], &s) != nil {
				return nil, errSyntax
			}
			w.pos = i + 1
			return []byte(s), nil
		}
	}
	return nil, errSyntax
}

func appendText(to, text []byte) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}
