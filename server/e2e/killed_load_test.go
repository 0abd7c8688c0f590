package e2e

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stint-run/stint/server/apitest"
)

func TestKilledUnderAMixedLoadEachKeyHasOneEffect(t *testing.T) {
	t.Parallel()
	eachProcess(t, func(t *testing.T, p *process) { killUnderLoad(t, p, 5) })
}

// killUnderLoad kills the server at random moments under four clients that
// enqueue, claim, finish, cancel, set a kind, and open, close and merge
// proposals. Each repeats a request under its key until it is answered. Then
// every key has had one effect, and every repeat the first answer.
func killUnderLoad(t *testing.T, p *process, kills int) {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	repo := p.Must(201, "/v1/repos", `{"forge":"github","namespace":"acme","name":"killed"}`).Str("repo.id")
	calm := make(chan struct{})
	var load sync.WaitGroup
	var clients [4]*stubborn
	for i := range clients {
		clients[i] = &stubborn{process: p, name: fmt.Sprintf("load-%d", i), calm: calm}
		load.Go(clients[i].untilCalm(repo))
	}
	for range kills {
		<-time.After(time.Duration(random.IntN(150_000)) * time.Microsecond)
		p.kill9()
		p.restart()
	}
	close(calm)
	load.Wait()
	rounds, answers, sum := 0, 0, stubborn{}
	for _, c := range clients {
		c.repeatAll()
		rounds, answers = rounds+c.rounds, answers+c.asked
		sum.lost, sum.refused, sum.inFlight, sum.repeats = sum.lost+c.lost, sum.refused+c.refused, sum.inFlight+c.inFlight, sum.repeats+c.repeats
	}
	t.Logf("%d kills, %d rounds, %d keys answered; %d connections lost, %d times 503, %d times in flight, %d repeats compared",
		kills, rounds, answers, sum.lost, sum.refused, sum.inFlight, sum.repeats)
	for what, want := range map[string]int{
		"jobs":                              2 * rounds,
		"jobs where state = 'succeeded'":    rounds,
		"jobs where state = 'cancelled'":    rounds,
		"jobs where attempt > 1":            0,
		"runs":                              rounds,
		"runs where status = 'succeeded'":   rounds,
		"proposals where state = 'merged'":  rounds,
		"proposal_transitions":              4 * rounds,
		"idempotency_keys where status = 0": 0,
		"idempotency_keys":                  answers,
	} {
		if n := p.db.number("select count(*) from " + what); n != int64(want) {
			t.Errorf("%s: %d, want %d", what, n, want)
		}
	}
}

// stubborn is a client that repeats each request under its key until it is
// answered, whatever becomes of the server.
type stubborn struct {
	*process
	calm                                            <-chan struct{} // closed after the last kill
	name                                            string
	rounds, asked, lost, refused, inFlight, repeats int
	kept                                            []sending // the latest, to be repeated
	version                                         string    // of its kind
}

// sending is a request and its first answer.
type sending struct {
	method, path, body string
	header             []string
	answer             apitest.Answer
}

// untilCalm is rounds until nobody kills any more, and at least one.
func (c *stubborn) untilCalm(repo string) func() {
	return func() {
		for {
			c.round(repo)
			select {
			case <-c.calm:
				return
			default:
			}
			if c.T.Failed() {
				return
			}
		}
	}
}

// round is one of each request, each with an effect that the next one needs.
func (c *stubborn) round(repo string) {
	kind := `{"kind":"` + c.name + `","payload":{"n":` + fmt.Sprint(c.rounds) + `}}`
	done := c.ask(201, http.MethodPost, "/v1/jobs", kind)
	got := c.ask(200, http.MethodPost, "/v1/jobs/claim", `{"worker":"w","lease_seconds":3600,"kinds":["`+c.name+`"]}`)
	j := held{id: got.Str("jobs.0.id"), token: got.Str("jobs.0.lease_token")}
	if j.id != done.Str("job.id") {
		c.T.Errorf("claimed %s, enqueued %s", got, done)
		return
	}
	c.ask(200, http.MethodPost, j.path("complete"), j.with(`"result":1`))
	next := c.ask(201, http.MethodPost, "/v1/jobs", kind)
	c.ask(200, http.MethodPost, "/v1/jobs/"+next.Str("job.id")+"/cancel", "")
	if c.version == "" {
		c.version = c.patiently(sending{method: http.MethodGet, path: "/v1/kinds/" + c.name}).Header.Get("ETag")
	}
	put := c.ask(200, http.MethodPut, "/v1/kinds/"+c.name, fmt.Sprintf(
		`{"lease_seconds":%d,"max_attempts":5,"backoff_base_seconds":5,"backoff_cap_seconds":9}`, 60+c.rounds%2), "If-Match", c.version)
	if want := fmt.Sprintf(`"v%d"`, c.rounds+2); put.Header.Get("ETag") != want {
		c.T.Errorf("the kind is at %s, want %s", put.Header.Get("ETag"), want)
	}
	c.version = put.Header.Get("ETag")
	change := c.ask(201, http.MethodPost, "/v1/repos/"+repo+"/proposals", fmt.Sprintf(`{"stream":"main","head":"%s-%d","title":"t"}`, c.name, c.rounds))
	for _, move := range []string{"close", "reopen", "merge"} {
		change = c.ask(200, http.MethodPost, "/v1/proposals/"+change.Str("proposal.id")+"/"+move, "", "If-Match", change.Header.Get("ETag"))
	}
	c.rounds++
}

// ask sends a request under a key of its own until it is answered, wants that
// status, and now and then the same answer again.
func (c *stubborn) ask(status int, method, path, body string, header ...string) apitest.Answer {
	x := sending{method: method, path: path, body: body, header: append(header, "Idempotency-Key", fmt.Sprintf("%s-%d", c.name, c.asked))}
	c.asked++
	x.answer = c.patiently(x)
	if x.answer.Status != status {
		c.T.Errorf("%s %s: want %d, got %s", method, path, status, x.answer)
	}
	if c.asked%3 == 0 {
		c.again(x)
	}
	if c.kept = append(c.kept, x); len(c.kept) > 200 {
		c.kept = c.kept[100:]
	}
	return x.answer
}

// again repeats a request, and wants its first answer.
func (c *stubborn) again(x sending) {
	c.repeats++
	a := c.patiently(x)
	if a.Status != x.answer.Status || !bytes.Equal(a.Body, x.answer.Body) || a.Header.Get("ETag") != x.answer.Header.Get("ETag") || a.Header.Get("Idempotent-Replayed") != "true" {
		c.T.Errorf("%s %s: first %s, then %s", x.method, x.path, x.answer, a)
	}
}

func (c *stubborn) repeatAll() {
	for _, x := range c.kept {
		c.again(x)
	}
}

// mostInFlight is how many answers in a row may say that a key is in flight.
// Each has waited for the lock as long as the store does.
const mostInFlight = 3

// patiently sends a request until it is answered: while the server is killed it
// may take any time, then 30 s. A request that was cut off keeps its key for a
// few answers at most.
func (c *stubborn) patiently(x sending) apitest.Answer {
	var last time.Time
	inFlight := 0 // in a row: a kill may leave the next one behind
	for last.IsZero() || time.Since(last) < 30*time.Second {
		select {
		case <-c.calm:
			last = cmp.Or(last, time.Now())
		default:
		}
		a, err := c.Try(context.Background(), x.method, x.path, x.body, x.header...)
		switch {
		case err != nil:
			c.lost++
			inFlight = 0
		case a.Status == http.StatusServiceUnavailable:
			c.refused++
			inFlight = 0
		case a.Str("code") == "idempotency_in_flight":
			c.inFlight++
			if inFlight++; inFlight > mostInFlight {
				c.T.Errorf("%s %s: in flight %d times in a row", x.method, x.path, inFlight)
				return apitest.Answer{}
			}
		default:
			return a
		}
		<-time.After(10 * time.Millisecond)
	}
	c.T.Errorf("%s %s: no answer within 30 s of the last kill: %d lost, %d times 503, %d times in flight", x.method, x.path, c.lost, c.refused, c.inFlight)
	return apitest.Answer{}
}
