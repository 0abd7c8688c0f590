// Package datum makes what is kept beside a record's data: its hash, its key, its
// time and its search text. It is pure: the same data give the same, on every
// machine.
package datum

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"sync"
)

// Datum is what one walk through a record's data found.
type Datum struct {
	Hash   string // of the structure, see Of
	Search string // see Of
	fields []field
}

// field is a member of the data itself, with its value as it is written.
type field struct {
	name  string
	value []byte
}

// errSyntax is of data that never passed the gate of the API.
var errSyntax = errors.New("the data is not a JSON object")

// hashBytes of SHA-256 are kept: enough that no two data meet, and short in an index.
const hashBytes = 24

var walkers = sync.Pool{New: func() any { return new(walker) }}

// Of walks through data, which is a JSON object that passed the API's gate. Its
// slices stay in use.
//
// Hash is the same for two data that differ only in the order of members, in white
// space, in escapes, or in how a number is spelled (1.0 is 1 is 10e-1): 32
// characters of base64. Search holds texts and numbers in the order in which they
// stand, folded, a line each, and is cut at MaxSearch bytes.
func Of(data []byte) (Datum, error) {
	w := walkers.Get().(*walker)
	defer walkers.Put(w)
	fields, err := w.walk(data)
	if err != nil {
		return Datum{}, err
	}
	return Datum{Hash: Sum(w.canon), Search: string(w.search), fields: fields}, nil
}

// Sum is the hash of bytes, in the form of the hash of data.
func Sum(b []byte) string {
	sum := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(sum[:hashBytes])
}

// value is the value of a member as it is written; nil if there is none.
func (d Datum) value(name string) []byte {
	for _, f := range d.fields {
		if f.name == name {
			return f.value
		}
	}
	return nil
}
