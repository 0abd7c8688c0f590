package work

import (
	"slices"
	"testing"
)

// A worker may itself run below a job, and Git asks only if its environment says so.
func TestACommandInheritsWhatIsNotOfAnotherJob(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ own, want []string }{
		{[]string{"A=1", "GIT_TERMINAL_PROMPT=1"}, []string{"A=1", "GIT_TERMINAL_PROMPT=1"}},
		{[]string{"A=1", "PGPASSWORD=x"}, []string{"A=1", "GIT_TERMINAL_PROMPT=0"}},
		{[]string{"STINT_KEY=another", "STINT_REPO_ID=r", "STINT_ISSUE_NUMBER=7", "TRACEPARENT=t"}, []string{"GIT_TERMINAL_PROMPT=0"}},
	} {
		if got := inherited(slices.Clone(tt.own)); !slices.Equal(got, tt.want) {
			t.Errorf("of %v a command gets %v, want %v", tt.own, got, tt.want)
		}
	}
}
