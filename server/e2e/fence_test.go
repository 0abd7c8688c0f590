package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/server/apitest"
)

// actions are what the holder of a lease can do, with the members they need.
var actions = map[string]string{
	"complete":  `"result":{"ok":true}`,
	"fail":      `"error":{"code":"broken","message":"it broke"}`,
	"snooze":    `"seconds":5`,
	"release":   ``,
	"heartbeat": `"progress":1,"lease_seconds":600`,
}

// TestStaleWorkerIsRefusedAndChangesNothing: its lease ran out, the reaper took
// the job back, another worker has it.
func TestStaleWorkerIsRefusedAndChangesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		old := claimed(s.Client)
		expire(s, old.id)
		awaitState(t, s.Client, old.id, "pending")
		present := claim(s.Client, s.Get("/v1/jobs/"+old.id).Str("kind"))
		if present.id != old.id || present.token == old.token {
			t.Fatalf("old %v, present %v", old, present)
		}
		for action := range actions {
			refused(s, old, action, "claimed", present.id)
		}
		s.Must(200, present.path("complete"), present.with(`"result":2`))
		for action := range actions {
			refused(s, old, action, "succeeded", present.id)
		}
		runs := s.Get("/v1/runs?job_id=" + old.id)
		if runs.Str("data.1.status") != "abandoned" || runs.Str("data.1.terminal_reason") != "lease_expired" || runs.Str("data.0.status") != "succeeded" {
			t.Errorf("the ledger shows %s", runs)
		}
	})
}

// refused wants 409 lease_lost, and the rows of job and runs as they were.
func refused(s *inProcess, j held, action, state, job string) {
	s.T.Helper()
	before := s.db.story(job)
	a := s.Post(j.path(action), j.with(actions[action]))
	if a.Status != http.StatusConflict || a.Str("code") != "lease_lost" || a.Str("job_id") != job || a.Str("state") != state || a.At("retryable") != false {
		s.T.Errorf("%s by a stale worker: %s", action, a)
	}
	if after := s.db.story(job); after != before {
		s.T.Errorf("%s by a stale worker changed\n%s to\n%s", action, before, after)
	}
}

// expire lets the lease of a job have ended a minute ago.
func expire(s *inProcess, id string) { s.db.lease(id, s.Store.Now().Add(-time.Minute)) }

// awaitState waits for the reaper, which passes every ten seconds.
func awaitState(t *testing.T, c *apitest.Client, id, state string) {
	t.Helper()
	apitest.Await(t, id+" is "+state, func() bool { return c.Get("/v1/jobs/"+id).Str("state") == state })
}

// TestForeignTokensAndRepeatsOfAFinish: a token of another job never counts,
// the same finish again is the same outcome, another one is a conflict.
func TestForeignTokensAndRepeatsOfAFinish(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		other := claimed(s.Client)
		for action, members := range actions {
			j := claimed(s.Client)
			for _, token := range []string{other.token, "", strings.Repeat("x", 128), "'; drop table jobs; --"} {
				refused(s, held{id: j.id, token: token}, action, "claimed", j.id)
			}
			first := s.Must(200, j.path(action), j.with(members))
			if action == "heartbeat" {
				continue
			}
			before := s.db.story(j.id)
			again := s.Must(200, j.path(action), j.with(members))
			if string(again.Body) != string(first.Body) {
				t.Errorf("%s\n%s\nand again\n%s", action, first, again)
			}
			for next, members := range actions {
				if next == action {
					continue
				}
				want := "state_conflict"
				if next == "heartbeat" {
					want = "lease_lost"
				}
				if a := s.Post(j.path(next), j.with(members)); a.Status != http.StatusConflict || a.Str("code") != want {
					t.Errorf("%s after %s: %s", next, action, a)
				}
			}
			if after := s.db.story(j.id); after != before {
				t.Errorf("what came after %s changed\n%s to\n%s", action, before, after)
			}
		}
	})
}

// TestLateFinishBeforeTheReaperCounts: an expired lease that nobody took back
// is still its holder's.
func TestLateFinishBeforeTheReaperCounts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		j := claimed(s.Client)
		s.db.lease(j.id, s.Store.Now().Add(-time.Second)) // within the reaper's grace
		s.Must(200, j.path("heartbeat"), j.with(""))
		a := s.Must(200, j.path("complete"), j.with(`"result":1`))
		if got := fmt.Sprintf("%v %v %v", a.At("job.state"), a.At("run.status"), a.At("job.result")); got != "succeeded succeeded 1" {
			t.Errorf("a late finish: %s", a)
		}
	})
}
