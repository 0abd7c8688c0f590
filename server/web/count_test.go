package web

import "testing"

func TestCountIsExactUpToAThousand(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]Count{0: {}, 999: {Value: 999}, 1000: {Value: 1000}, 1001: {Value: 1000, AtLeast: true}} {
		if got := Counted(n); got != want {
			t.Errorf("%d rows: %+v, want %+v", n, got, want)
		}
	}
}
