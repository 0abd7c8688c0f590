package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stint-run/stint/server/apitest"
)

// TestWorkerOverHTTPIsHeldToTheTimeLimit: the smallest limit is named by the
// claim, the run and each heartbeat; no heartbeat extends the lease beyond it;
// and when it has passed the attempt has failed, whoever beats.
func TestWorkerOverHTTPIsHeldToTheTimeLimit(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		name := kind(s.Client)
		setKind(s.Client, name, `,"timeout_seconds":400`)
		id := s.Must(201, "/v1/jobs", `{"kind":"`+name+`","timeout_seconds":500}`).Str("job.id")
		a := s.Must(200, "/v1/jobs/claim", `{"worker":"w-1","kinds":["`+name+`"],"timeout_seconds":300}`, "Idempotency-Key", "claim-"+id)
		j := held{id, a.Str("jobs.0.lease_token"), a.Str("jobs.0.run_id")}
		deadline := a.Str("jobs.0.deadline_at")
		run := s.Get("/v1/runs/" + j.run)
		if left := seconds(t, run.Str("started_at"), deadline); left != 300 || run.Str("deadline_at") != deadline ||
			s.Get("/v1/runs?job_id="+id).Str("data.0.deadline_at") != deadline {
			t.Errorf("%v s, claim %s, run %s", left, a, run)
		}
		again := s.Must(200, "/v1/jobs/claim", `{"worker":"w-1","kinds":["`+name+`"],"timeout_seconds":300}`, "Idempotency-Key", "claim-"+id)
		if string(again.Body) != string(a.Body) {
			t.Errorf("the claim again: %s, first %s", again, a)
		}
		beat := s.Must(200, j.path("heartbeat"), j.with(`"lease_seconds":86400`))
		if beat.Str("lease_expires_at") != deadline || beat.Str("deadline_at") != deadline {
			t.Errorf("a heartbeat: %s, the deadline is %s", beat, deadline)
		}
		if left := seconds(t, beat.Str("now"), deadline); left <= 0 || left > 300 {
			t.Errorf("the heartbeat says that %v s are left", left)
		}

		s.passDeadline(id)
		if a := s.Post(j.path("heartbeat"), j.with(`"lease_seconds":600`)); a.Status != http.StatusConflict || a.Str("code") != "lease_lost" {
			t.Errorf("a heartbeat beyond the limit: %s", a)
		}
		awaitState(t, s.Client, id, "pending")
		job, run := s.Get("/v1/jobs/"+id), s.Get("/v1/runs/"+j.run)
		if run.Str("status") != "failed" || run.Str("terminal_reason") != "timeout" || run.Str("error.code") != "timeout" || job.Str("error.code") != "timeout" {
			t.Errorf("run %s, job %s", run, job)
		}
		if wait := seconds(t, run.Str("completed_at"), job.Str("run_at")); wait < 3.9 || wait > 6.1 {
			t.Errorf("tried again after %v s, the backoff is 4 to 6", wait)
		}
		refused(s, j, "complete", "pending", id)
	})
}

// TestTimeLimitOfAKindStaysUntilItIsNamed: a client that does not know the
// member changes nothing of it.
func TestTimeLimitOfAKindStaysUntilItIsNamed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		name := kind(s.Client)
		for _, tt := range []struct{ member, want string }{
			{"", "<nil>"}, {`,"timeout_seconds":604800`, "604800"}, {"", "604800"}, {`,"timeout_seconds":null`, "<nil>"}, {`,"timeout_seconds":1`, "1"},
		} {
			setKind(s.Client, name, tt.member)
			if got := fmt.Sprint(s.Get("/v1/kinds/" + name).At("timeout_seconds")); got != tt.want {
				t.Errorf("after %q: %s, want %s", tt.member, got, tt.want)
			}
		}
	})
}

func kindBody(member string) string {
	return `{"lease_seconds":60,"max_attempts":3,"backoff_base_seconds":5,"backoff_cap_seconds":20` + member + `}`
}

// setKind puts a kind as it is, with a member more.
func setKind(c *apitest.Client, name, member string) {
	c.T.Helper()
	tag := c.Get("/v1/kinds/" + name).Header.Get("ETag")
	if a := c.Call(http.MethodPut, "/v1/kinds/"+name, kindBody(member), "If-Match", tag); a.Status != http.StatusOK {
		c.T.Fatalf("put the kind: %s", a)
	}
}

// passDeadline lets the deadline of a job's attempt, and its lease with it, have
// been a minute ago.
func (s *inProcess) passDeadline(id string) {
	s.T.Helper()
	at := s.Store.Now().Add(-time.Minute)
	s.db.exec("update runs set deadline_at = $1 where job_id = $2", s.db.time(at), id)
	s.db.lease(id, at)
}

// seconds are those from one time of an answer to another.
func seconds(t *testing.T, from, to string) float64 {
	t.Helper()
	var times [2]time.Time
	for i, text := range []string{from, to} {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		times[i] = at
	}
	return times[1].Sub(times[0]).Seconds()
}
