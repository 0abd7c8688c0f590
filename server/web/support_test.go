package web

import (
	"reflect"
	"testing"

	"github.com/stint-run/stint/schema/coltype"
)

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// checkTime fails unless a time that passed the gate can be decoded and kept.
func checkTime(t *testing.T, v string) {
	t.Helper()
	var at coltype.Time
	if err := at.UnmarshalJSON([]byte(`"` + v + `"`)); err != nil {
		t.Fatalf("%q passes and cannot be decoded: %v", v, err)
	}
	if at.Year() < 2 || at.Year() > 9999 {
		t.Fatalf("%q is in year %d", v, at.Year())
	}
}
