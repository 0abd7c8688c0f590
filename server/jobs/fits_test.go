package jobs

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
)

// largest is a job whose members are as long as they may be, and as long in JSON.
func largest() model.Job {
	text := func(s string, n int) *string {
		long := strings.Repeat(s, n)
		return &long
	}
	value := func(n int) coltype.JSON { return coltype.JSON(`"` + strings.Repeat("x", n-2) + `"`) }
	n := int64(1 << 52)
	at := coltype.At(time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC))
	id := text("i", 40)
	return model.Job{
		ID: *id, OwnerID: *id, Kind: strings.Repeat("k", 63), State: Claimed, WaitingFor: text("dependency", 1), Key: text("\x01", 2048),
		RepoID: id, IssueNumber: &n, Payload: value(256 << 10), Priority: 4, RunAt: at, Attempt: n, MaxAttempts: 100, TimeoutSeconds: &n,
		ClaimedBy: text(`"`, 128), LeaseToken: text("t", 70), LeaseExpiresAt: at, Follows: id, FollowedBy: id, CancelRequestedAt: at,
		Progress: value(16 << 10), Error: value(25 << 10), Traceparent: text("t", 55), Actor: text("\x01", 255),
		ActedAt: at, CreatedAt: at, UpdatedAt: at, FinishedAt: at,
	}
}

func TestAJobTakesNoMoreOfAnAnswerThanIsCounted(t *testing.T) {
	t.Parallel()
	for name, job := range map[string]model.Job{"largest": largest(), "empty": {}} {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false) // as answers are written
		if err := enc.Encode(claimedOf(ClaimedJob{Job: job, RunID: strings.Repeat("r", 40), DeadlineAt: job.RunAt})); err != nil {
			t.Fatal(err)
		}
		if got := bytesOf(job); got < b.Len() || got > b.Len()+jobBytes {
			t.Errorf("%s: %d bytes, counted as %d", name, b.Len(), got)
		}
		if bytesOf(job) > AnswerBytes {
			t.Errorf("%s: it fits into no answer", name)
		}
	}
}

func TestClaimsLearnHowManyJobsFit(t *testing.T) {
	t.Parallel()
	f, kinds := NewFits(), []string{"large"}
	want := func(n int64) {
		t.Helper()
		if got := f.Limit("ada", kinds, 100); got != n {
			t.Errorf("the limit is %d, not %d", got, n)
		}
	}
	// took is a claim of some jobs under its limit, of so many bytes.
	took := func(jobs, bytes int) {
		out := ClaimOut{owner: "ada", kinds: kinds, limit: f.Limit("ada", kinds, 100), bytes: bytes}
		for range jobs {
			out.Jobs = append(out.Jobs, ClaimedJob{Job: model.Job{Kind: "large"}})
		}
		f.Note(out)
	}
	want(100)
	f.Full("ada", kinds, 7)
	want(7)
	took(7, AnswerBytes-1) // as many as fit
	took(3, 1000)          // there were no more
	want(7)
	took(7, AnswerBytes/2)
	want(14)
	for _, n := range []int{14, 28, 56} {
		took(n, 1000)
	}
	want(100)
	if len(f.of) != 0 {
		t.Errorf("%d kinds are remembered for nothing", len(f.of))
	}
	if got := f.Limit("bob", kinds, 100); got != 100 {
		t.Errorf("another owner's limit is %d", got)
	}
}

// Large jobs of one kind hold back claims that name it beside others only for as
// long as there are any.
func TestAKindWithoutLargeJobsHoldsNoOtherBack(t *testing.T) {
	t.Parallel()
	f, kinds := NewFits(), []string{"large", "small"}
	f.Full("ada", kinds, 1)
	for _, limit := range []int64{2, 4, 8, 16, 32, 64, 100} {
		out := ClaimOut{owner: "ada", kinds: kinds, limit: f.Limit("ada", kinds, 100), bytes: 1000}
		for range out.limit {
			out.Jobs = append(out.Jobs, ClaimedJob{Job: model.Job{Kind: "small"}})
		}
		f.Note(out)
		if got := f.Limit("ada", kinds, 100); got != limit {
			t.Errorf("the limit is %d, not %d", got, limit)
		}
	}
}
