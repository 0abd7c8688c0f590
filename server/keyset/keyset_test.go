package keyset

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
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

// filter is one whose rows are the ids that read makes of those asked for.
func filter(keep func(int) bool, read func(ids []string) []string) Filter[int, string] {
	return Filter[int, string]{
		Keep: keep,
		At:   at,
		Rows: func(text string) (ids []string, err error) {
			err = json.Unmarshal([]byte(text), &ids)
			return read(ids), err
		},
		Entry: func(row string) int { i, _ := strconv.Atoi(row); return i },
	}
}

func TestFilteredPageEndsAtTheLastEntryWalked(t *testing.T) {
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
		ids, next, err := filter(tt.keep, func(ids []string) []string { return ids }).Page(entries(tt.n), tt.limit)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
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

func TestFilteredPageKeepsTheWalksOrderWithoutRowsThatAreGone(t *testing.T) {
	all := func(int) bool { return true }
	got, _, err := filter(all, func([]string) []string { return []string{"0", "2"} }).Page([]int{2, 9, 0}, 5)
	if !slices.Equal(got, []string{"2", "0"}) || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestFilteredPageLeavesOutRowsThatHaveChanged(t *testing.T) {
	kept := true
	f := filter(func(i int) bool { return kept || i != 1 }, func(ids []string) []string {
		kept = false // between the walk and the rows
		return ids
	})
	page, next, err := f.Page(entries(4), 2)
	if !slices.Equal(page, []string{"0"}) || position(next) != "1" || err != nil {
		t.Errorf("page %v, next %v, %v", page, next, err)
	}
}
