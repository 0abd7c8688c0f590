package jobs_test

import (
	"testing"

	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/notify"
)

// A burst is told as all of an owner, and what may have been missed as all of everybody.
func TestHintWakesThoseThatItIsAbout(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		hint notify.Hint
		want string // who is woken, of ada's builds and tests and of bob's builds
	}{
		{notify.Hint{Owner: "ada", Kinds: []string{"build", "unknown"}}, "ada build, "},
		{notify.Hint{Owner: "ada"}, "ada build, ada test, "},
		{notify.Hint{}, "ada build, ada test, bob build, "},
		{notify.Hint{Owner: "carol"}, ""},
	} {
		hub, woken := jobs.NewHub(nil), ""
		type claim struct {
			owner, kind string
			wake        <-chan struct{}
		}
		var claims []claim
		for _, c := range []claim{{owner: "ada", kind: "build"}, {owner: "ada", kind: "test"}, {owner: "bob", kind: "build"}} {
			wake, stop := hub.Listen(c.owner, []string{c.kind})
			defer stop()
			c.wake = wake
			claims = append(claims, c)
		}
		jobs.HearForTest(hub, tt.hint)
		for _, c := range claims {
			if len(c.wake) > 0 {
				woken += c.owner + " " + c.kind + ", "
			}
		}
		if woken != tt.want {
			t.Errorf("%+v wakes %q, want %q", tt.hint, woken, tt.want)
		}
	}
}
