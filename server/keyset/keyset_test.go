package keyset

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stint-run/stint/schema/coltype"
)

func entries(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func at(i int) Position {
	return Position{At: coltype.At(time.Unix(int64(i), 0)), ID: fmt.Sprint(i)}
}

func TestCutSaysWhereTheNextPageBegins(t *testing.T) {
	page, next := Cut(entries(4), 3, at)
	if len(page) != 3 || next == nil || next.ID != "2" {
		t.Errorf("page %v, next %v", page, next)
	}
	if page, next = Cut(entries(3), 3, at); len(page) != 3 || next != nil {
		t.Errorf("last page %v, next %v", page, next)
	}
}

func TestPickEndsAtTheLastEntryWalked(t *testing.T) {
	none := func(int) bool { return false }
	even := func(i int) bool { return i%2 == 0 }
	for _, tt := range []struct {
		name  string
		n     int
		limit int
		keep  func(int) bool
		ids   []string
		next  string
	}{
		{"full page", 10, 2, even, []string{"0", "2"}, "2"},
		{"list ended", 10, 9, even, []string{"0", "2", "4", "6", "8"}, ""},
		{"page fills with the list's last entry", 3, 2, even, []string{"0", "2"}, ""},
		{"nothing within the walk", Walk, 5, none, []string{}, fmt.Sprint(Walk - 1)},
		{"nothing in the list", Walk - 1, 5, none, []string{}, ""},
		{"page fills with the walk's last entry", Walk, Walk, func(int) bool { return true }, nil, fmt.Sprint(Walk - 1)},
	} {
		ids, next := Pick(entries(tt.n), tt.limit, tt.keep, at)
		if tt.ids != nil && !slices.Equal(ids, tt.ids) {
			t.Errorf("%s: ids %v", tt.name, ids)
		}
		if got := position(next); got != tt.next {
			t.Errorf("%s: next %q, want %q", tt.name, got, tt.next)
		}
	}
}

func position(p *Position) string {
	if p == nil {
		return ""
	}
	return p.ID
}

func TestInOrderKeepsTheWalksOrder(t *testing.T) {
	got := InOrder([]string{"2", "0", "9"}, []int{0, 2}, func(i int) string { return fmt.Sprint(i) })
	if !slices.Equal(got, []int{2, 0}) {
		t.Errorf("got %v", got)
	}
}
