package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/stint-run/stint/server"
	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// hearing are two replicas that hear each other. Claims that wait on the first one
// look for nothing by themselves.
func hearing(t *testing.T) (a *inProcess, b *process) {
	t.Helper()
	a = serveHereWith(t, dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.Postgres)}), server.Config{PollEvery: time.Hour})
	b = startOn(t, a.Store)
	b.Token = a.Token
	for _, c := range []*apitest.Client{a.Client, b.Client} {
		apitest.Await(t, "notifications arrive", func() bool { return c.Get("/readyz?verbose").Str("replica.notifications") == "ok" })
	}
	if got := a.figure("stint_notifications_listening"); got != 1 {
		t.Errorf("the metric says %d", got)
	}
	return a, b
}

// figure is a metric without labels; -1 if there is none.
func (s *inProcess) figure(name string) int {
	found, ok := s.scrape().value(name, "")
	if !ok {
		return -1
	}
	return int(found)
}

func TestWaitingClaimIsWokenByAnotherReplica(t *testing.T) {
	t.Parallel()
	a, b := hearing(t)
	for range 9 {
		claim := waiting(a.Client, waitingClaim)
		for range 3 {
			a.Get("/v1/whoami") // gives the claim the time to find nothing
		}
		id := b.Must(201, "/v1/jobs", `{"kind":"review"}`).Str("job.id")
		got := <-claim
		if got.Len("jobs") != 1 || got.Str("jobs.0.id") != id {
			t.Fatalf("woken to %s", got)
		}
	}
}

// TestEachWayToBecomeClaimableIsToldToOtherReplicas counts what the other replica
// hears: nothing of what leaves no work.
func TestEachWayToBecomeClaimableIsToldToOtherReplicas(t *testing.T) {
	t.Parallel()
	a, b := hearing(t)
	enqueue := func(more string) string {
		t.Helper()
		return b.Must(201, "/v1/jobs", `{"kind":"review"`+more+`}`).Str("job.id")
	}
	// take claims a job under a lease of ten seconds.
	take := func() (id, lease string) {
		t.Helper()
		got := b.Must(200, "/v1/jobs/claim", `{"worker":"w","kinds":["review"],"lease_seconds":10}`)
		return got.Str("jobs.0.id"), got.Str("jobs.0.lease_token")
	}
	finish := func(action, more string) {
		t.Helper()
		id, lease := take()
		b.Must(200, "/v1/jobs/"+id+"/"+action, fmt.Sprintf(`{"lease_token":%q%s}`, lease, more))
	}
	failed := `,"error":{"code":"no","message":"no"}`
	for _, step := range []struct {
		name  string
		tells bool
		do    func()
	}{
		{"an enqueue", true, func() { enqueue("") }},
		{"a release", true, func() { finish("release", "") }},
		{"a snooze of no time", true, func() { finish("snooze", `,"seconds":0`) }},
		{"a failure that is tried again at once", true, func() { finish("fail", failed+`,"retry_after_seconds":0`) }},
		{"a pause", false, func() { b.Must(200, "/v1/kinds/review/pause", "") }},
		{"a kind resumed", true, func() { b.Must(200, "/v1/kinds/review/resume", "") }},
		{"a snooze", false, func() { finish("snooze", `,"seconds":600`) }},
		{"an enqueue for later", false, func() { enqueue(`,"run_at":"2999-01-01T00:00:00Z"`) }},
		{"a batch", true, func() { b.Must(200, "/v1/jobs/batch", `{"items":[{"kind":"review"},{"kind":"review","key":"k"}]}`) }},
		{"a success", false, func() { finish("complete", "") }},
		{"a success that is followed", true, func() {
			id, lease := take()
			if again := b.Must(200, "/v1/jobs", `{"kind":"review","key":"k"}`); again.At("again") != true {
				t.Fatalf("again: %s", again)
			}
			b.Must(200, "/v1/jobs/complete", fmt.Sprintf(`{"items":[{"id":%q,"lease_token":%q}]}`, id, lease))
		}},
		{"a failure for good", false, func() { finish("fail", failed+`,"retryable":false`) }},
		{"a retry by hand", true, func() {
			id := b.Get("/v1/jobs?state=failed").Str("data.0.id")
			b.Must(200, "/v1/jobs/"+id+"/retry", "")
		}},
	} {
		before := a.figure("stint_notifications_received_total")
		step.do()
		if !step.tells {
			// What is told after it arrives after it.
			b.Must(200, "/v1/kinds/implement/resume", "")
			apitest.Await(t, step.name, func() bool { return a.figure("stint_notifications_received_total") > before })
			if got := a.figure("stint_notifications_received_total"); got != before+1 {
				t.Errorf("%s: %d notifications", step.name, got-before-1)
			}
			continue
		}
		apitest.Await(t, step.name, func() bool { return a.figure("stint_notifications_received_total") > before })
	}
}
