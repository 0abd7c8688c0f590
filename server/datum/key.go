package datum

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Key is the key of a record whose primary key are fields: of one field its text,
// of several the JSON array of their texts without white space, of none the
// hash. The error names a field that is absent, null, an object or an array, or
// empty as the only one.
func (d Datum) Key(fields []string) (string, error) {
	if len(fields) == 0 {
		return d.Hash, nil
	}
	texts := make([]string, len(fields))
	for i, name := range fields {
		text, err := keyText(d.value(name))
		if err != nil {
			return "", fmt.Errorf("the key field %s %w", name, err)
		}
		texts[i] = text
	}
	if len(fields) > 1 {
		return arrayOf(texts), nil
	}
	if texts[0] == "" {
		return "", fmt.Errorf("the key field %s is empty", fields[0])
	}
	return texts[0], nil
}

// NormalKey is a key of that many fields as Key writes it, of one that a client
// sent. The error says what form it must have.
func NormalKey(key string, fields int) (string, error) {
	if fields <= 1 {
		return key, nil
	}
	var texts []*string
	err := json.Unmarshal([]byte(key), &texts)
	if err != nil || len(texts) != fields || slices.Contains(texts, nil) || halved(key, texts) {
		return "", fmt.Errorf("key must be a JSON array of %d texts", fields)
	}
	all := make([]string, fields)
	for i, text := range texts {
		all[i] = *text
	}
	return arrayOf(all), nil
}

// halved reports whether texts have a replacement character that key does not spell:
// it was half a surrogate pair, and must not become the key of another record.
func halved(key string, texts []*string) bool {
	const spelled, escaped = "\ufffd", `\ufffd`
	return slices.ContainsFunc(texts, func(text *string) bool { return strings.Contains(*text, spelled) }) &&
		!strings.Contains(key, spelled) && !strings.Contains(strings.ToLower(key), escaped)
}

// keyText is the text of a scalar value. Numbers have one spelling.
func keyText(value []byte) (string, error) {
	switch c := (&walker{src: value}).peek(); c {
	case 0:
		return "", fmt.Errorf("is absent")
	case 'n':
		return "", fmt.Errorf("is null")
	case '{':
		return "", fmt.Errorf("is an object")
	case '[':
		return "", fmt.Errorf("is an array")
	case 't', 'f':
		return words[c], nil
	case '"':
		text, err := (&walker{src: value}).text()
		return string(text), err
	default:
		return parseNumber(value).String(), nil
	}
}

func arrayOf(texts []string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(texts) // texts are encoded without an error
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
