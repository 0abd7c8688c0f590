package web

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Name is a text member of a request body that people read as a name or a title.
// control.NameFault has its rule, which the document tells in words: a pattern that
// all languages read alike would not be legible.
type Name string

var nameText = reflect.TypeFor[Name]()

// names holds the members of the type Name by their schemas.
type names map[*huma.Schema]bool

// nameNote is what the document says of each Name.
const nameNote = "One line, without control, bidirectional or invisible characters, and without a blank at either end."

// note has the rules look at a member, and the document say so.
func (n names) note(member *huma.Schema) {
	n[member] = true
	member.Description = strings.TrimSpace(member.Description + " " + nameNote)
}

// isName reports whether t is a Name, or may be one.
func isName(t reflect.Type) bool {
	return t == nameText || t.Kind() == reflect.Pointer && t.Elem() == nameText
}
