package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// refusal is a problem as far as these tests look at it.
type refusal struct {
	Status int
	Code   string
	Errors []struct{ Pointer string }
}

// refused sends a request and returns its problem, the code first, then the
// pointers of its faults.
func (a *api) refused(method, path, body string, headers ...string) []string {
	a.T.Helper()
	answer := a.Call(method, path, body, headers...)
	if answer.Status < 400 {
		a.T.Fatalf("%s %s: %s", method, path, answer)
	}
	var out refusal
	answer.Into(a.T, &out)
	got := []string{out.Code}
	for _, e := range out.Errors {
		got = append(got, e.Pointer)
	}
	return got
}

// The rules that no schema can say are told together with the schema's, each at
// its place and in one order.
func TestEveryFaultOfAJobsBodyIsToldAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		a := newAPI(t, s)
		for _, tt := range []struct {
			name, method, path, body string
			want                     []string
		}{
			{"enqueue", "POST", "/v1/jobs", `{"kind":"Bad","key":"issue:x","issue_number":1,"priority":9}`,
				[]string{"/issue_number", "/key", "/kind", "/priority"}},
			{"the members of a repo", "POST", "/v1/jobs", `{"kind":"a","colour":1,"repo":{"forge":"gitea","namespace":"a b","name":".."}}`,
				[]string{"/colour", "/repo/host", "/repo/name", "/repo/namespace"}},
			{"a forge that is none", "POST", "/v1/jobs", `{"kind":"a","repo":{"forge":"hub","namespace":"a","name":"b"}}`,
				[]string{"/repo/forge"}},
			{"a batch", "POST", "/v1/jobs/batch", `{"items":[{"kind":"a"},{"kind":"a","issue_number":1},{"kind":"a","repo":{"forge":"forgejo","namespace":"a","name":"b"}},{"kind":"A"}]}`,
				[]string{"/items/1/issue_number", "/items/2/repo/host", "/items/3/kind"}},
			{"kinds of a claim", "POST", "/v1/jobs/claim", `{"worker":"w","kinds":["a","A","a/b"],"limit":0}`,
				[]string{"/kinds/1", "/kinds/2", "/limit"}},
			{"a cap below the base", "PUT", "/v1/kinds/a", `{"lease_seconds":1,"max_attempts":5,"backoff_base_seconds":9,"backoff_cap_seconds":8}`,
				[]string{"/backoff_cap_seconds", "/lease_seconds"}},
			{"an id twice", "POST", "/v1/jobs/complete", `{"items":[{"id":"x","lease_token":"t"},{"id":"y","lease_token":"t"},{"id":"x","lease_token":"u"},{"id":"x"}]}`,
				[]string{"/items/2/id", "/items/3/id", "/items/3/lease_token"}},
		} {
			got := a.refused(tt.method, tt.path, tt.body)
			if diff := cmp.Diff(append([]string{"validation_failed"}, tt.want...), got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tt.name, diff)
			}
		}
	})
}

// Nothing names a version of what does not exist, not even *.
func TestIfMatchOnAnUnknownKindIsRefused(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		a := newAPI(t, s)
		body := `{"lease_seconds":60,"max_attempts":5,"backoff_base_seconds":5,"backoff_cap_seconds":8}`
		for _, match := range []string{`"v1"`, `"v0"`, `*`} {
			if got := a.refused("PUT", "/v1/kinds/fresh", body, "If-Match", match); got[0] != "precondition_failed" {
				t.Errorf("%s: %v", match, got)
			}
		}
		if got := a.refused("GET", "/v1/kinds/fresh", ""); got[0] != "not_found" {
			t.Errorf("the kind was made: %v", got)
		}
		var kind json.RawMessage
		a.call(http.MethodPut, "/v1/kinds/fresh", json.RawMessage(body), &kind)
		if got := a.refused("PUT", "/v1/kinds/fresh", body); got[0] != "precondition_required" {
			t.Errorf("a known kind without If-Match: %v", got)
		}
	})
}

// A commit that took longer than the lease it made: the clock jumps with every
// reading, so between the one of the transaction and the one after the commit.
func TestHeartbeatThatCommitsAfterItsLeaseIsLeaseLost(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		a := newAPI(t, s)
		var claim struct {
			Jobs []struct {
				ID         string
				LeaseToken string `json:"lease_token"`
			}
		}
		a.call(http.MethodPost, "/v1/jobs", map[string]any{"kind": "a"}, nil)
		a.call(http.MethodPost, "/v1/jobs/claim", map[string]any{"worker": "w", "kinds": []string{"a"}}, &claim)
		path, token := "/v1/jobs/"+claim.Jobs[0].ID+"/heartbeat", claim.Jobs[0].LeaseToken
		begin, readings := s.Now(), atomic.Int64{}
		s.SetClock(func() coltype.Time { return begin.Add(time.Duration(readings.Add(1)) * 11 * time.Second) })
		if got := a.refused(http.MethodPost, path, `{"lease_seconds":10,"lease_token":"`+token+`"}`); got[0] != "lease_lost" {
			t.Errorf("a lease that has ended is reported as held: %v", got)
		}
		a.call(http.MethodPost, path, map[string]any{"lease_seconds": 600, "lease_token": token}, nil)
	})
}

// The clock jumps as above: the lease of one job ends before the answer, that of
// the other does not.
func TestClaimThatCommitsLateLeavesOutLeasesThatHaveEnded(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		a := newAPI(t, s)
		for kind, lease := range map[string]int{"short": 10, "long": 600} {
			a.call(http.MethodPut, "/v1/kinds/"+kind, map[string]any{"lease_seconds": lease, "max_attempts": 5, "backoff_base_seconds": 5, "backoff_cap_seconds": 8}, nil)
			a.call(http.MethodPost, "/v1/jobs", map[string]any{"kind": kind}, nil)
		}
		begin, readings := s.Now(), atomic.Int64{}
		s.SetClock(func() coltype.Time { return begin.Add(time.Duration(readings.Add(1)) * 11 * time.Second) })
		var claim struct{ Jobs []struct{ Kind string } }
		a.call(http.MethodPost, "/v1/jobs/claim", map[string]any{"worker": "w", "kinds": []string{"short", "long"}, "limit": 2}, &claim)
		if len(claim.Jobs) != 1 || claim.Jobs[0].Kind != "long" {
			t.Errorf("the answer has %v, want the job whose lease lasts", claim.Jobs)
		}
		var list struct{ Data []struct{ State string } }
		a.call(http.MethodGet, "/v1/jobs?state=claimed", nil, &list)
		if len(list.Data) != 2 {
			t.Errorf("%d jobs were claimed, want both", len(list.Data))
		}
	})
}

func TestListOfJobsLeavesOutWhatIsLargeAndNamesIt(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		a := newAPI(t, s)
		large := strings.Repeat("x", 4<<10)
		enqueue := map[string]any{"kind": "a", "key": "k", "payload": large}
		a.call(http.MethodPost, "/v1/jobs", enqueue, nil)
		a.call(http.MethodPost, "/v1/jobs/claim", map[string]any{"worker": "w", "kinds": []string{"a"}}, nil)
		a.call(http.MethodPost, "/v1/jobs", enqueue, nil)
		var list struct{ Data []map[string]any }
		a.call(http.MethodGet, "/v1/jobs", nil, &list)
		job := list.Data[0]
		if diff := cmp.Diff([]any{"payload", "again"}, job["omitted"]); diff != "" || job["payload"] != nil || job["again"] != nil {
			t.Errorf("payload %v, again %v, omitted (-want +got)\n%s", job["payload"], job["again"], diff)
		}
		var whole map[string]any
		a.call(http.MethodGet, "/v1/jobs/"+job["id"].(string), nil, &whole)
		if again, _ := whole["again"].(map[string]any); again["payload"] != large || whole["payload"] != large {
			t.Errorf("the job itself lacks members: %v", whole)
		}
	})
}

// Claims over HTTP begin where the last one ended, which is noted once it is
// committed; what lies below is found before an answer would be empty.
func TestClaimsOfAServerRaiseItsFloors(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		a := newAPI(t, s)
		now := s.Now()
		s.SetClock(func() coltype.Time { return now })
		var made struct{ Job struct{ ID string } } // in the end the late one
		for _, key := range []string{"first", "newer", "late"} {
			a.call(http.MethodPost, "/v1/jobs", map[string]any{"kind": "a", "key": key}, &made)
		}
		late := func(minutes string) {
			dbtest.SQL(t, s, map[string]string{
				store.Postgres: "update jobs set run_at = run_at + interval '1 minute' * " + minutes + " where id = $1",
				store.SQLite:   "update jobs set run_at = run_at + 60000000 * " + minutes + " where id = $1",
			}[s.Engine()], made.Job.ID)
		}
		late("60")
		for i, want := range []string{"first", "newer", "late"} {
			var claim struct{ Jobs []struct{ Key string } }
			a.call(http.MethodPost, "/v1/jobs/claim", map[string]any{"worker": "w", "kinds": []string{"a"}}, &claim)
			if len(claim.Jobs) != 1 || claim.Jobs[0].Key != want {
				t.Errorf("claim %d took %v, want %s", i, claim.Jobs, want)
			}
			if i == 0 {
				late("-120")
			}
		}
	})
}

// A claim took a job, but its answer cannot be kept: nothing is committed, and the
// next claim begins at the oldest work. No engine has a say.
func TestClaimThatIsRolledBackRaisesNoFloor(t *testing.T) {
	t.Parallel()
	s := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.SQLite)})
	a := newAPI(t, s)
	a.Lenient = true // one answer is a 500
	now := s.Now()
	s.SetClock(func() coltype.Time { return now })
	for _, key := range []string{"first", "late"} {
		a.call(http.MethodPost, "/v1/jobs", map[string]any{"kind": "a", "key": key}, nil)
	}
	dbtest.SQL(t, s, "update jobs set run_at = run_at + 60000000 where key = 'late'")
	dbtest.SQL(t, s, "create trigger unkept before update on idempotency_keys begin select raise(abort, 'not kept'); end")
	const body = `{"worker":"w","kinds":["a"]}`
	if got := a.Post("/v1/jobs/claim", body, "Idempotency-Key", "k"); got.Status != http.StatusInternalServerError {
		t.Fatalf("the claim whose answer cannot be kept: %s", got)
	}
	dbtest.SQL(t, s, "update jobs set run_at = run_at - 120000000 where key = 'late'")
	var claim struct{ Jobs []struct{ Key string } }
	a.Post("/v1/jobs/claim", body).Into(t, &claim)
	if len(claim.Jobs) != 1 || claim.Jobs[0].Key != "late" {
		t.Errorf("the next claim took %v, want the oldest", claim.Jobs)
	}
}
