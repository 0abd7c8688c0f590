package work

import (
	"slices"
	"testing"
)

func TestGitAsksOnlyIfTheEnvironmentSaysSo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ own, want []string }{
		{[]string{"A=1", "GIT_TERMINAL_PROMPT=1"}, []string{"A=1", "GIT_TERMINAL_PROMPT=1"}},
		{[]string{"A=1", "PGPASSWORD=x"}, []string{"A=1", "GIT_TERMINAL_PROMPT=0"}},
	} {
		if got := inherited(slices.Clone(tt.own)); !slices.Equal(got, tt.want) {
			t.Errorf("of %v a command gets %v, want %v", tt.own, got, tt.want)
		}
	}
}
