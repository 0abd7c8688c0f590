package ingest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stint-run/stint/server/records"
)

// cut is the batches of an input: number, first and last line, length.
func cut(t *testing.T, input string) (all, ids, long []string) {
	t.Helper()
	lines := Lines(t.Context(), iotest.HalfReader(strings.NewReader(input)), records.MaxLine)
	err := Each(t.Context(), lines, func(b *Batch) error {
		all = append(all, fmt.Sprintf("%d: %d-%d of %d", b.N, b.Lines[0], b.Lines[len(b.Lines)-1], len(b.Lines)))
		ids = append(ids, b.id(""))
		if n := strings.Count(string(b.Body), "\n"); n != len(b.Lines) || len(b.Body) > maxBody {
			t.Errorf("batch %d has %d lines and %d bytes for %d", b.N, n, len(b.Body), len(b.Lines))
		}
		return nil
	}, func(l Line) { long = append(long, fmt.Sprintf("%d: %d", l.N, l.Size)) })
	if err != nil {
		t.Fatal(err)
	}
	return all, ids, long
}

// The same input is cut at the same lines into batches of the same ids, however it
// arrives; that is what resumes an import.
func TestInputIsCutAlwaysAtTheSameLines(t *testing.T) {
	large := strings.Repeat("x", records.MaxLine)
	tests := map[string]struct {
		input string
		want  []string
		long  []string
	}{
		"nothing":        {"\n \n", nil, nil},
		"a batch":        {strings.Repeat("a\n", 1000), []string{"1: 1-1000 of 1000"}, nil},
		"one more":       {strings.Repeat("a\n", 1000) + "b", []string{"1: 1-1000 of 1000", "2: 1001-1001 of 1"}, nil},
		"blank lines":    {"\na\r\n\nb", []string{"1: 2-4 of 2"}, nil},
		"many bytes":     {strings.Repeat(large+"\n", 9), []string{"1: 1-7 of 7", "2: 8-9 of 2"}, nil},
		"one of its own": {"a\n" + large + "x\nb\n", []string{"1: 1-3 of 2"}, []string{"2: 1048577"}},
	}
	for name, tt := range tests {
		got, ids, long := cut(t, tt.input)
		if !slices.Equal(got, tt.want) || !slices.Equal(long, tt.long) {
			t.Errorf("%s: %q, too long %q; want %q, %q", name, got, long, tt.want, tt.long)
		}
		if _, again, _ := cut(t, tt.input); !slices.Equal(ids, again) {
			t.Errorf("%s: the ids are %q, and then %q", name, ids, again)
		}
	}
}

// Batches that say the same are two when they are two of an input, or of two runs.
func TestIDOfABatchIsItsOwn(t *testing.T) {
	_, ids, _ := cut(t, strings.Repeat("a\n", 2000))
	b := &Batch{N: 1, Body: []byte("a\n")}
	ids = append(ids, b.id(""), b.id("run_1"), b.id("run_2"), (&Batch{N: 1, Body: []byte("b\n")}).id(""))
	if slices.Sort(ids); len(slices.Compact(ids)) != 6 || len(ids[0]) != idLength {
		t.Errorf("ids %q", ids)
	}
}

// What was not read is not the end of the input.
func TestReadersErrorIsTheImports(t *testing.T) {
	lost := errors.New("lost")
	lines := Lines(t.Context(), iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("a\nb\n"))), 8)
	err := Each(t.Context(), lines, func(*Batch) error { return lost }, nil)
	if !errors.Is(err, iotest.ErrTimeout) {
		t.Error(err)
	}
}
