package work

import (
	"io"
	"strings"
	"testing"
)

func TestATranscriptIsCutInFrontAndSaysSo(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		max     int
		writes  []string
		want    []string // of parts while it is written, and the last
		skipped int64    // before the first
	}{
		"in the order it came":       {100, []string{"a", "b\n", "c"}, []string{"ab\nc", ""}, 0},
		"what is too much goes":      {5, []string{"0123456789"}, []string{"[5 bytes of output are left out here]\n56789", ""}, 5},
		"at a character":             {5, []string{"ääää"}, []string{"[4 bytes of output are left out here]\nää", ""}, 4},
		"a begun character waits":    {100, []string{"a\xc3"}, []string{"a", "\xc3"}, 0},
		"a character is kept whole":  {100, []string{"\xc3", "\xa4"}, []string{"ä", ""}, 0},
		"no character, but no delay": {100, []string{"\xff\xff"}, []string{"\xff\xff", ""}, 0},
		"nothing":                    {100, nil, []string{"", ""}, 0},
		"nothing is kept":            {0, []string{"a"}, []string{"", ""}, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := &transcript{max: tt.max}
			for _, s := range tt.writes {
				if n, err := io.WriteString(tr, s); n != len(s) || err != nil {
					t.Fatalf("wrote %d of %d: %v", n, len(s), err)
				}
			}
			first, last := tr.part(false), tr.part(true)
			if first.text != tt.want[0] || last.text != tt.want[1] || first.skipped != tt.skipped {
				t.Errorf("got %+v and %+v", first, last)
			}
		})
	}
}

func TestWhatATranscriptKeepsIsBounded(t *testing.T) {
	t.Parallel()
	tr := &transcript{max: maxPart}
	chunk := strings.Repeat("x", 10_000)
	for range 1000 {
		_, _ = io.WriteString(tr, chunk)
	}
	if kept := cap(tr.text); kept > 4*maxPart {
		t.Errorf("%d bytes are kept of 10 MB", kept)
	}
	p := tr.part(true)
	if len(p.text) > maxPart || len(p.text) < maxPart-2*maxNote || p.skipped < 10_000_000-maxPart {
		t.Errorf("a part of %d bytes, %d skipped", len(p.text), p.skipped)
	}
}
