package keyset

import (
	"context"
	"encoding/json"
	"errors"
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

func id(p *Position) string {
	if p == nil {
		return ""
	}
	return p.ID
}

func TestCutSaysWhereTheNextPageBegins(t *testing.T) {
	page, next := cut(entries(4), 3, at)
	if len(page) != 3 || id(next) != "2" {
		t.Errorf("page %v, next %v", page, next)
	}
	if page, next = cut(entries(3), 3, at); len(page) != 3 || next != nil {
		t.Errorf("last page %v, next %v", page, next)
	}
}

// table is what a list of the tests reads: walks find numbers, rows are their text.
type table struct {
	walk []int
	rows func(ids []string) []string // nil: those asked for
	ran  []string                    // the statements
}

// pick selects numbers; the zero pick selects all.
type pick struct {
	parity string // "even" or "odd"; leads an index
	least  int    // residual
	key    string // leads an index, and no walk tells it
}

func parity(i int) string { return []string{"even", "odd"}[i%2] }

var (
	byParity = Equal(func(in pick) string { return in.parity }, parity)
	byKey    = Leading[int](func(in pick) string { return in.key })
	byLeast  = &Filter[pick, int]{Keep: func(in pick) func(int) bool {
		if in.least == 0 {
			return nil
		}
		return func(i int) bool { return i >= in.least }
	}}
)

// args are the arguments of all statements of the tests.
type args struct{ max int64 }

func first(_ pick, _ Position, max int64) args { return args{max} }

func page(name string) func(context.Context, *table, pick, Position, int64) ([]string, error) {
	return Statement(first, func(q *table, _ context.Context, a args) ([]string, error) {
		q.ran = append(q.ran, name)
		return Convert(q.walk[:min(int(a.max), len(q.walk))], strconv.Itoa), nil
	})
}

func walk(name string) func(context.Context, *table, pick, Position, int64) ([]int, error) {
	return Statement(first, func(q *table, _ context.Context, a args) ([]int, error) {
		q.ran = append(q.ran, name)
		return q.walk[:min(int(a.max), len(q.walk))], nil
	})
}

func number(row string) int { i, _ := strconv.Atoi(row); return i }

var numbers = List[*table, pick, string, int]{
	Name:    "numbers",
	Filters: Filters(byKey, byParity, byLeast),
	Leads: []Lead[*table, pick, string, int]{
		{By: Filters(byKey), Page: page("page by key"), Walk: walk("walk by key")},
		{By: Filters(byParity), Page: page("page by parity"), Walk: walk("walk by parity")},
		{Page: page("page"), Walk: walk("walk")},
	},
	At: at, Entry: number,
	ByIDs: func(_ context.Context, q *table, _ pick, text string) (ids []string, err error) {
		q.ran = append(q.ran, "rows")
		if err = json.Unmarshal([]byte(text), &ids); err == nil && q.rows != nil {
			ids = q.rows(ids)
		}
		return ids, err
	},
}

// read is one page of numbers.
func read(t *testing.T, q *table, in pick, limit int) (ids []string, next string) {
	t.Helper()
	ids, last, err := numbers.Page(t.Context(), q, in, Top(), limit)
	if err != nil {
		t.Fatal(err)
	}
	return ids, id(last)
}

func TestTheFirstLeadWhoseFiltersAreSetReads(t *testing.T) {
	for in, want := range map[pick][]string{
		{}:                                   {"page"},
		{parity: "even"}:                     {"page by parity"},
		{key: "k"}:                           {"page by key"},
		{least: 1}:                           {"walk", "rows"},
		{parity: "even", least: 1}:           {"walk by parity", "rows"},
		{key: "k", parity: "even"}:           {"walk by key", "rows"},
		{key: "k", parity: "even", least: 5}: {"walk by key"}, // nothing is left to read
	} {
		q := &table{walk: entries(4)}
		read(t, q, in, 3)
		if !slices.Equal(q.ran, want) {
			t.Errorf("%+v ran %v, want %v", in, q.ran, want)
		}
	}
}

func TestFilteredPageEndsAtTheLastEntryWalked(t *testing.T) {
	even := pick{parity: "even", key: "k"}
	for _, tt := range []struct {
		name  string
		n     int
		limit int
		in    pick
		ids   []string
		next  string
	}{
		{"full page", 10, 2, even, []string{"0", "2"}, "2"},
		{"list ended", 10, 9, even, []string{"0", "2", "4", "6", "8"}, ""},
		{"page fills with the list's last entry", 3, 2, even, []string{"0", "2"}, ""},
		{"nothing within the walk", Walk, 5, pick{least: Walk}, []string{}, fmt.Sprint(Walk - 1)},
		{"nothing in the list", Walk - 1, 5, pick{least: Walk}, []string{}, ""},
		{"the list goes on behind the walk", Walk + 1, 5, pick{least: Walk}, []string{}, fmt.Sprint(Walk - 1)},
		{"page fills with the walk's last entry", Walk, Walk - 1, pick{least: 1}, nil, fmt.Sprint(Walk - 1)},
	} {
		ids, next := read(t, &table{walk: entries(tt.n)}, tt.in, tt.limit)
		if tt.ids != nil && !slices.Equal(ids, tt.ids) {
			t.Errorf("%s: ids %v", tt.name, ids)
		}
		if next != tt.next {
			t.Errorf("%s: next %q, want %q", tt.name, next, tt.next)
		}
	}
}

func TestFilteredPageKeepsTheWalksOrderWithoutRowsThatAreGone(t *testing.T) {
	q := &table{walk: []int{2, 9, 4}, rows: func([]string) []string { return []string{"4", "2"} }}
	if got, _ := read(t, q, pick{least: 1}, 5); !slices.Equal(got, []string{"2", "4"}) {
		t.Errorf("got %v", got)
	}
}

func TestFilteredPageLeavesOutRowsThatHaveChanged(t *testing.T) {
	changed := false
	l := numbers
	l.Filters = Filters(&Filter[pick, int]{Keep: func(pick) func(int) bool {
		return func(i int) bool { return !changed || i != 1 }
	}})
	q := &table{walk: entries(4), rows: func(ids []string) []string {
		changed = true // between the walk and the rows
		return ids
	}}
	ids, next, err := l.Page(t.Context(), q, pick{}, Top(), 2)
	if !slices.Equal(ids, []string{"0"}) || id(next) != "1" || err != nil {
		t.Errorf("page %v, next %v, %v", ids, next, err)
	}
}

func TestWalkOfWholeRowsRunsOneStatement(t *testing.T) {
	l := Plain("numbers", at, first, func(q *table, _ context.Context, a args) ([]int, error) {
		q.ran = append(q.ran, "page")
		return q.walk[:min(int(a.max), len(q.walk))], nil
	}, byLeast)
	for in, want := range map[pick][]int{{}: {0, 1}, {least: 2}: {2, 3}} {
		q := &table{walk: entries(6)}
		rows, next, err := l.Page(t.Context(), q, in, Top(), 2)
		if !slices.Equal(rows, want) || id(next) != fmt.Sprint(want[1]) || err != nil || len(q.ran) != 1 {
			t.Errorf("%+v: rows %v, next %v, %v, ran %v", in, rows, next, err, q.ran)
		}
	}
}

// A leading filter that does not lead would keep every entry of the walk.
func TestAFilterThatMustLeadAndDoesNotIsRefused(t *testing.T) {
	second := Leading[int](func(in pick) string { return in.parity })
	leads := numbers
	leads.Filters = Filters(byKey, second)
	noWalk := numbers
	noWalk.Filters = Filters(byParity)
	noWalk.Leads = []Lead[*table, pick, string, int]{{Page: page("page")}}
	for name, l := range map[string]List[*table, pick, string, int]{"two of them": leads, "no walk": noWalk} {
		q := &table{walk: entries(4)}
		if _, _, err := l.Page(t.Context(), q, pick{key: "k", parity: "even"}, Top(), 2); !errors.Is(err, errNoLead) || len(q.ran) != 0 {
			t.Errorf("%s: %v, ran %v", name, err, q.ran)
		}
	}
}

func TestParentIsAskedOnlyWhenNothingWasFound(t *testing.T) {
	gone := fmt.Errorf("no such parent")
	l := numbers
	l.Parent = func(context.Context, *table, pick) error { return gone }
	for n, want := range map[int]error{0: gone, 1: nil} {
		for _, in := range []pick{{}, {least: 9}} {
			if _, _, err := l.Page(t.Context(), &table{walk: entries(n)}, in, Top(), 5); err != want {
				t.Errorf("%d entries, %+v: %v", n, in, err)
			}
		}
	}
}
