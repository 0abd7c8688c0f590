package e2e

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/server/apitest"
)

// keyedEnqueue is a request whose effect can be counted: without a key of the
// queue's own, each one that takes effect is a job more.
func keyedEnqueue(i int) (body string, header []string) {
	return fmt.Sprintf(`{"kind":"review","payload":{"round":%d}}`, i), []string{"Idempotency-Key", fmt.Sprintf("round-%d", i)}
}

// TestKilledBetweenEffectAndAnswerTheRetryHasOneEffect: the server is killed at
// the first byte of its answer, which the client never gets.
func TestKilledBetweenEffectAndAnswerTheRetryHasOneEffect(t *testing.T) {
	t.Parallel()
	eachProcess(t, func(t *testing.T, p *process) {
		cut := newProxy(t, func() string { return strings.TrimPrefix(p.URL(), "http://") })
		cut.onAnswer(p.kill9)
		through := apitest.NewClient(t, func() string { return "http://" + cut.addr() }, p.Token)
		body, header := keyedEnqueue(1)
		if a, err := through.Try(context.Background(), http.MethodPost, "/v1/jobs", body, header...); err == nil {
			t.Fatalf("an answer came through: %s", a)
		}
		if n := p.db.number("select count(*) from jobs"); n != 1 {
			t.Fatalf("%d jobs after the effect", n)
		}
		p.restart()
		first := p.Must(201, "/v1/jobs", body, header...)
		again := p.Must(201, "/v1/jobs", body, header...)
		if first.Header.Get("Idempotent-Replayed") != "true" || !bytes.Equal(first.Body, again.Body) {
			t.Errorf("%v %s\n%v %s", first.Header, first, again.Header, again)
		}
		job := p.Get("/v1/jobs/" + first.Str("job.id"))
		if n := p.db.number("select count(*) from jobs"); n != 1 || job.Str("state") != "pending" {
			t.Errorf("%d jobs, the first %s", n, job)
		}
	})
}

func TestKilledAtAnyMomentTheRetryHasOneEffect(t *testing.T) {
	t.Parallel()
	eachProcess(t, func(t *testing.T, p *process) { killLoop(t, p, 5) })
}

// killLoop kills the server at a random moment around a request, and repeats
// the request after the restart. Claims and finishes of the same rounds are
// repeated as well.
func killLoop(t *testing.T, p *process, rounds int) {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	answered := 0
	for i := range rounds {
		body, header := keyedEnqueue(i)
		moment := time.Duration(random.IntN(12_000)) * time.Microsecond
		killed := make(chan struct{})
		kill := time.AfterFunc(moment, func() {
			p.kill9()
			close(killed)
		})
		first, err := p.Try(context.Background(), http.MethodPost, "/v1/jobs", body, header...)
		if kill.Stop() {
			p.kill9()
		} else {
			<-killed // else it might kill the next process
		}
		p.restart()
		again := p.Must(201, "/v1/jobs", body, header...)
		if err == nil {
			answered++
			if !bytes.Equal(first.Body, again.Body) || again.Header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("round %d: first %s, after the restart %s", i, first, again)
			}
		}
		if n := p.db.number("select count(*) from jobs"); n != int64(i+1) {
			t.Fatalf("%d jobs after %d rounds", n, i+1)
		}
	}
	t.Logf("%d of %d requests were answered before the kill", answered, rounds)
}

// TestRestartHandsNothingOutAgain: what is claimed is in the database alone.
func TestRestartHandsNothingOutAgain(t *testing.T) {
	t.Parallel()
	eachProcess(t, func(t *testing.T, p *process) {
		id := p.Must(201, "/v1/jobs", `{"kind":"review","key":"k"}`).Str("job.id")
		a := p.Must(200, "/v1/jobs/claim", `{"worker":"w1","kinds":["review"],"lease_seconds":300}`)
		j := held{id: id, token: a.Str("jobs.0.lease_token"), run: a.Str("jobs.0.run_id")}
		p.kill9()
		p.restart()
		if a := p.Must(200, "/v1/jobs/claim", `{"worker":"w2","kinds":["review"]}`); a.Len("jobs") != 0 {
			t.Errorf("handed out again: %s", a)
		}
		if a := p.Must(200, "/v1/jobs", `{"kind":"review","key":"k","on_duplicate":"keep"}`); a.Str("job.id") != id || a.Str("job.state") != "claimed" {
			t.Errorf("the key is no longer its job's: %s", a)
		}
		p.Must(200, j.path("heartbeat"), j.with(""))
		if a := p.Get("/v1/runs/" + j.run); a.Str("status") != "in_progress" {
			t.Errorf("its run: %s", a)
		}
		if a := p.Must(200, j.path("complete"), j.with(`"result":1`)); a.Str("run.id") != j.run || a.Str("run.status") != "succeeded" {
			t.Errorf("finished: %s", a)
		}
	})
}
