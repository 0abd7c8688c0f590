package notify_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/notify"
	"github.com/stint-run/stint/server/store"
)

// long are waits that end in no test. Others are set where they are the matter.
var long = notify.Waits{Probe: time.Hour, Echo: time.Minute, Silent: time.Hour, Flush: time.Minute}

// replica is a running bus.
type replica struct {
	*notify.Bus
	store *store.Store
	log   *apitest.Log
	stop  func()

	mu    sync.Mutex
	heard []notify.Hint
}

// begin runs a bus on the database of c that hears of the topic "jobs".
func begin(t *testing.T, c store.Config, w notify.Waits) *replica {
	t.Helper()
	r := &replica{store: dbtest.Open(t, c), log: &apitest.Log{}}
	r.Bus = notify.New(r.store, slog.New(slog.NewTextHandler(r.log, nil)), w)
	r.On("jobs", func(h notify.Hint) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.heard = append(r.heard, h)
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Run(ctx)
	}()
	r.stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(r.stop)
	return r
}

func (r *replica) awaits(t *testing.T, state string) {
	t.Helper()
	apitest.Await(t, "the state "+state, func() bool { return r.State() == state })
}

// take is what was heard since the last call, without resyncs.
func (r *replica) take() (hints []notify.Hint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.heard {
		if h.Owner != "" {
			hints = append(hints, h)
		}
	}
	r.heard = nil
	return hints
}

// hears waits for hints until the one for the owner "last" comes.
func (r *replica) hears(t *testing.T, from *replica, want ...notify.Hint) {
	t.Helper()
	last := notify.Hint{Topic: "jobs", Owner: "last"}
	from.Send(last)
	var got []notify.Hint
	apitest.Await(t, "the last hint", func() bool {
		got = append(got, r.take()...)
		return len(got) > 0 && got[len(got)-1].Owner == "last"
	})
	if diff := cmp.Diff(append(want, last), got, cmpopts.IgnoreUnexported(last)); diff != "" {
		t.Error(diff)
	}
}

func TestReplicasHearEachOther(t *testing.T) {
	t.Parallel()
	url := dbtest.Fresh(t, store.Postgres)
	a, b := begin(t, store.Config{URL: url}, long), begin(t, store.Config{URL: url}, long)
	a.awaits(t, notify.OK)
	b.awaits(t, notify.OK)
	hint := notify.Hint{Topic: "jobs", Owner: "ada", Kinds: []string{"review"}}
	a.Send(hint)
	b.hears(t, a, hint)
	if got := a.take(); len(got) != 0 {
		t.Errorf("it hears itself: %v", got)
	}
	if a.Figures().Sent < 2 || b.Figures().Received < 2 || b.Figures().Sent != 0 {
		t.Errorf("figures %+v and %+v", a.Figures(), b.Figures())
	}
}

// A job that is new to one replica is not due yet to another whose clock is behind.
func TestAHintWaitsUntilTheClockHasReachedIt(t *testing.T) {
	t.Parallel()
	const behind = 300 * time.Millisecond
	url := dbtest.Fresh(t, store.Postgres)
	a, b := begin(t, store.Config{URL: url}, long), begin(t, store.Config{URL: url}, long)
	a.awaits(t, notify.OK)
	b.awaits(t, notify.OK)
	dbtest.Freeze(b.store)
	dbtest.Freeze(a.store).Advance(behind)
	began := time.Now()
	b.hears(t, a)
	if took := time.Since(began); took < behind {
		t.Errorf("handed on after %v by a clock that is %v behind", took, behind)
	}
	a.Send(notify.Hint{Topic: "jobs", Owner: "ada"})
	apitest.Await(t, "the hint", func() bool { return b.Figures().Received == 2 })
	b.stop()
	b.take()
	<-time.After(behind)
	if got := b.take(); len(got) != 0 {
		t.Errorf("handed on after the end: %v", got)
	}
}

// What is none of ours is ignored, and fills no log.
func TestStrangeNotificationsAreIgnored(t *testing.T) {
	t.Parallel()
	url := dbtest.Fresh(t, store.Postgres)
	a, b := begin(t, store.Config{URL: url}, long), begin(t, store.Config{URL: url}, long)
	a.awaits(t, notify.OK)
	b.awaits(t, notify.OK)
	stranger := dbtest.Open(t, store.Config{URL: url})
	strange := []string{`{"topic":"of a later release","owner":"ada"}`}
	for i := range 100 {
		strange = append(strange, fmt.Sprint("hello", i))
	}
	if err := stranger.Notify(t.Context(), strange); err != nil {
		t.Fatal(err)
	}
	b.hears(t, a)
	if got := countLines(b.log, "a notification was ignored"); got != 7 { // the 1st, 2nd, 4th, … 64th
		t.Errorf("%d lines for 100", got)
	}
}

// A burst is one statement, and the end sends what waits.
func TestABurstGoesTogetherAndTheEndSendsIt(t *testing.T) {
	t.Parallel()
	url := dbtest.Fresh(t, store.Postgres)
	slow := long
	slow.Gap = time.Hour
	a, b := begin(t, store.Config{URL: url}, slow), begin(t, store.Config{URL: url}, long)
	a.awaits(t, notify.OK)
	b.awaits(t, notify.OK)
	first := notify.Hint{Topic: "jobs", Owner: "ada", Kinds: []string{"first"}}
	a.Send(first)
	apitest.Await(t, "the first leaves at once", func() bool { return a.Figures().Sent == 1 })
	for i := range 10_000 {
		a.Send(notify.Hint{Topic: "jobs", Owner: "ada", Kinds: []string{fmt.Sprint("kind", i%3)}})
	}
	a.stop()
	b.hears(t, beside(t, url), first, notify.Hint{Topic: "jobs", Owner: "ada", Kinds: []string{"kind0", "kind1", "kind2"}})
	if got := a.Figures().Sent; got != 2 {
		t.Errorf("%d notifications for 10,001 hints", got)
	}
}

// beside is one more replica.
func beside(t *testing.T, url string) *replica {
	t.Helper()
	r := begin(t, store.Config{URL: url}, long)
	r.awaits(t, notify.OK)
	return r
}

// One alone tells nobody; as soon as another comes, it does.
func TestOneReplicaAloneSendsNothing(t *testing.T) {
	t.Parallel()
	url := dbtest.Fresh(t, store.Postgres)
	often := long
	often.Probe = 10 * time.Millisecond
	a := begin(t, store.Config{URL: url}, often)
	a.awaits(t, notify.OK)
	apitest.Await(t, "it knows to be alone", func() bool { return !a.NeededForTest() })
	before := a.Figures().Sent
	a.Send(notify.Hint{Topic: "jobs", Owner: "ada"})
	b := begin(t, store.Config{URL: url}, often)
	b.awaits(t, notify.OK)
	apitest.Await(t, "the other hears", func() bool {
		a.Send(notify.Hint{Topic: "jobs", Owner: "bob"})
		got := b.take()
		return len(got) > 0 && got[0].Owner == "bob"
	})
	if a.Figures().Sent == before {
		t.Error("nothing was counted")
	}
}

// A line that is dead or frozen is replaced, and who waits looks at what it missed.
func TestALostLineIsOpenedAgain(t *testing.T) {
	t.Parallel()
	for how, lose := range map[string]func(p *dbtest.Proxy){"frozen": (*dbtest.Proxy).Freeze, "cut": (*dbtest.Proxy).GoDown} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			db := dbtest.Fresh(t, store.Postgres)
			wire, through := dbtest.Through(t, db)
			quick := notify.Waits{Probe: 20 * time.Millisecond, Echo: 2 * time.Second, Silent: 10 * time.Millisecond, Flush: time.Minute}
			a := begin(t, store.Config{URL: db, ListenURL: through}, quick)
			a.awaits(t, notify.OK)
			a.mu.Lock()
			a.heard = nil
			a.mu.Unlock()
			wire.Set(func(p *dbtest.Proxy) { p.Down = true })
			lose(wire)
			a.awaits(t, notify.Polling)
			wire.ComeBack()
			a.awaits(t, notify.OK)
			a.mu.Lock()
			defer a.mu.Unlock()
			if len(a.heard) == 0 || a.heard[0].Owner != "" || a.heard[0].Topic != "" {
				t.Errorf("heard %v: nobody is told to look", a.heard)
			}
			if !a.log.Has("the listening connection is lost") {
				t.Errorf("the log: %s", a.log)
			}
		})
	}
}

// Behind a transaction pooler nothing comes back, as here, where the line leads to
// another database. What this replica has to say is said all the same.
func TestWithoutAnEchoItPollsAndNamesTheFlag(t *testing.T) {
	t.Parallel()
	url, elsewhere := dbtest.Fresh(t, store.Postgres), dbtest.Fresh(t, store.Postgres)
	quick := long
	quick.Echo, quick.Silent = 50*time.Millisecond, 10*time.Millisecond
	a := begin(t, store.Config{URL: url, ListenURL: elsewhere}, quick)
	b := beside(t, url)
	apitest.Await(t, "the line of the log", func() bool {
		return a.log.Has("--db-listen (STINT_DB_LISTEN; default --db) have to lead to the same database")
	})
	b.hears(t, a)
	if a.State() != notify.Polling || countLines(a.log, "--db-listen") != 1 {
		t.Errorf("state %s, the log: %s", a.State(), a.log)
	}
}

func TestABusLeavesNothingBehind(t *testing.T) {
	s := dbtest.Open(t, store.Config{URL: dbtest.Fresh(t, store.Postgres)})
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := goleak.IgnoreCurrent()
	bus := notify.New(s, slog.New(slog.DiscardHandler), long)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { bus.Run(ctx) })
	apitest.Await(t, "ok", func() bool { return bus.State() == notify.OK })
	cancel()
	wg.Wait()
	goleak.VerifyNone(t, before)
	if bus.State() != notify.Polling {
		t.Error("ended, and it still listens")
	}
	apitest.Await(t, "the line is closed", func() bool {
		return dbtest.Get[int](t, s, "select count(*) from pg_stat_activity where datname = current_database() and query like 'listen%'") == 0
	})
}

// SQLite has one process: there is no bus, and whoever has none may use it.
func TestOneProcessHasNoBus(t *testing.T) {
	t.Parallel()
	bus := notify.New(dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.SQLite)}), nil, long)
	bus.On("jobs", nil)
	bus.Send(notify.Hint{Topic: "jobs"})
	bus.Run(t.Context())
	if bus != nil || bus.State() != "" {
		t.Errorf("a bus, in state %q", bus.State())
	}
}

func countLines(log *apitest.Log, with string) (n int) {
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, with) {
			n++
		}
	}
	return n
}
