//go:build linux

package e2e

import (
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stint-run/stint/server/dbtest"
)

// troubleSeed and troubleRound run a round again that went wrong.
const (
	troubleSeed  = "STINT_TROUBLE_SEED"
	troubleRound = "STINT_TROUBLE_ROUND"
)

func TestCommandsOfATroubledWorkerKeepThePromises(t *testing.T) {
	t.Parallel()
	// A claim that waits when its worker is cut off may take a job for a whole lease
	// more: without claims of second attempts a round is shorter.
	trouble(t, 1, "--max-jobs", "3")
}

// roundsAtOnce is how many rounds share a server: they take long, and do little.
const roundsAtOnce = 10

// trouble runs sets of rounds on both engines; flags are more of the troubled
// workers'.
func trouble(t *testing.T, sets int, flags ...string) {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv(troubleSeed); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%s=%d", troubleSeed, seed)
	dbtest.Engines(t, func(t *testing.T, engine string) {
		p := start(t, engine, "--reap-every", "100ms")
		for set := range sets {
			var rounds []*round
			for _, n := range numbers(t, engine, set) {
				rounds = append(rounds, newRound(t, p, seed, n))
				rounds[len(rounds)-1].flags = flags
			}
			troubledSet(t, p, seed, rounds)
		}
	})
}

// numbers are those of the rounds of a set; the engines' are different ones.
func numbers(t *testing.T, engine string, set int) (all []int) {
	t.Helper()
	if text := os.Getenv(troubleRound); text != "" {
		only, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		if engines[only%len(engines)] != engine {
			return nil
		}
		return []int{only}
	}
	for i := range roundsAtOnce * len(engines) {
		if engines[i%len(engines)] == engine {
			all = append(all, set*roundsAtOnce*len(engines)+i)
		}
	}
	return all
}

// troubledSet runs rounds side by side; their server is frozen once.
func troubledSet(t *testing.T, p *process, seed uint64, rounds []*round) {
	t.Helper()
	var all sync.WaitGroup
	for _, r := range rounds {
		all.Go(r.run)
	}
	freezeServer(p, seed, rounds)
	all.Wait()
	for _, r := range rounds {
		if len(r.watch.faults) > 0 || os.Getenv(troubleRound) != "" {
			t.Logf("%s=%d %s=%d draws this round again:\n%s", troubleSeed, seed, troubleRound, r.number, r.report())
		}
		for _, fault := range r.watch.faults {
			t.Errorf("round %d: %s", r.number, fault)
		}
	}
	t.Log(measured(rounds))
}

func newRound(t *testing.T, p *process, seed uint64, number int) *round {
	t.Helper()
	r := &round{server: p, number: number, plan: planOf(seed, number), over: make(chan struct{}), runs: map[string]ledgerRun{}}
	var err error
	if r.watch, err = newWatch(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	r.network = newProxy(t, func() string { return p.URL()[len("http://"):] })
	return r
}

// freezeServer stops the server once, at a moment that the first round's number
// draws.
func freezeServer(p *process, seed uint64, rounds []*round) {
	if len(rounds) == 0 {
		return
	}
	d := drawOf(^seed, rounds[0].number/len(engines)/roundsAtOnce)
	wait, lasts := d.between(time.Second, 8*time.Second), d.between(500*time.Millisecond, 3*time.Second)
	if d.chance(10) { // until leases have run out; then much is nobody's fault
		wait, lasts = d.between(time.Second, 4*time.Second), d.between(8*time.Second, 11*time.Second)
	}
	<-time.After(wait)
	began := time.Now()
	p.signal(syscall.SIGSTOP)
	for _, r := range rounds {
		r.watch.note("the server is frozen for %v", lasts)
	}
	<-time.After(lasts)
	p.signal(syscall.SIGCONT)
	for _, r := range rounds {
		r.notReached(span{began, time.Now()})
		r.watch.note("over: the server is frozen")
	}
}

// notReached notes a time in which no report could come through.
func (r *round) notReached(s span) { r.watch.set(func() { r.away = append(r.away, s) }) }
