package e2e

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/web"
)

var engines = []string{store.SQLite, store.Postgres}

// inProcess runs a whole server of this process on s, with its loops, until the
// test ends. The client holds an admin token of the owner "ada".
type inProcess struct {
	*client
	admin *client // of the health routes' own listener
	store *store.Store
	db    *door
	log   *logBuffer
	stop  func() error // drains, and returns what Run returned
}

func serveHere(t *testing.T, s *store.Store) *inProcess {
	t.Helper()
	l := server.Listeners{Main: listen(t), Admin: listen(t)}
	ctx, cancel := context.WithCancel(context.Background())
	in := &inProcess{store: s, db: openDoor(t, s), log: &logBuffer{}}
	ended := make(chan error, 1)
	config := server.Config{Version: "test", URL: dbtest.URLOf(t, s), Log: slog.New(slog.NewTextHandler(in.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	go func() { ended <- server.Run(ctx, config, s, l) }()
	in.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() {
		if err := in.stop(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
		judgeLog(t, in.log.String())
	})
	in.client = newClient(t, at(l.Main), issue(t, s, "ada", web.ScopeAdmin))
	in.admin = newClient(t, at(l.Admin), "")
	awaitReady(t, in.client)
	return in
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// at is where a listener is reached.
func at(l net.Listener) func() string {
	return func() string { return "http://" + l.Addr().String() }
}

// each runs fn against a server of this process on both engines.
func each(t *testing.T, fn func(t *testing.T, s *inProcess)) {
	t.Helper()
	eachWith(t, store.Config{}, fn)
}

func eachWith(t *testing.T, c store.Config, fn func(t *testing.T, s *inProcess)) {
	t.Helper()
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			fn(t, serveOn(t, engine, c))
		})
	}
}

// serveOn is a server of this process on a fresh database of one engine.
func serveOn(t *testing.T, engine string, c store.Config) *inProcess {
	t.Helper()
	c.URL = dbtest.Whole(t, engine)
	return serveHere(t, dbtest.Open(t, c))
}

// issue makes a token of an owner, and the owner if there is none. A database
// that is too busy is asked again.
func issue(t testing.TB, s *store.Store, owner string, scopes ...string) (token string) {
	t.Helper()
	var err error
	for range 5 {
		if token, err = tryIssue(s, owner, scopes); err == nil {
			return token
		}
	}
	t.Fatal(err)
	return ""
}

func tryIssue(s *store.Store, owner string, scopes []string) (token string, err error) {
	ctx := context.Background()
	err = s.Tx(ctx, func(q model.Querier) error {
		o, _, err := control.CreateOwner(ctx, q, s.Now(), owner)
		if err != nil {
			return err
		}
		token, _, err = control.Issue(ctx, q, s.Now(), control.TokenIn{OwnerID: o.ID, Name: owner + "'s", Scopes: scopes})
		return err
	})
	return token, err
}

func awaitReady(t testing.TB, c *client) {
	t.Helper()
	await(t, "ready", 30*time.Second, c.ready)
}

func (c *client) ready() bool {
	a, err := c.try(context.Background(), http.MethodGet, "/readyz", "")
	return err == nil && a.Status == http.StatusOK
}

// await looks every few milliseconds until what is true, at most for d.
func await(t testing.TB, what string, d time.Duration, is func() bool) {
	t.Helper()
	tick, late := time.NewTicker(5*time.Millisecond), time.NewTimer(d)
	defer tick.Stop()
	defer late.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-late.C:
			t.Fatalf("not within %v: %s", d, what)
		}
	}
}

// logBuffer collects what a server writes.
type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// secrets have a form of their own, so that every log can be searched for them:
// tokens, sessions, login links, lease tokens, and the header that carries one.
var secrets = regexp.MustCompile(`stint_(session_|login_)?[0-9A-Za-z]{33}|[A-Z2-7]{26}\.job_|(?i)bearer `)

// judgeLog wants no secret in a log, and shows what a failed test's server said
// of its errors.
func judgeLog(t testing.TB, log string) {
	t.Helper()
	if at := secrets.FindStringIndex(log); at != nil {
		t.Errorf("a secret is in the log: …%s…", log[max(0, at[0]-200):min(len(log), at[1]+20)])
	}
	for _, word := range []string{"database is locked", "panic:", "DATA RACE"} {
		if strings.Contains(log, word) {
			t.Errorf("the log has %q", word)
		}
	}
	if !t.Failed() {
		return
	}
	for line := range strings.Lines(log) {
		if strings.Contains(line, "level=ERROR") && !strings.Contains(line, `route=""`) {
			t.Log(line)
		}
	}
}
