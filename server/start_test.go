package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

var quiet = slog.New(slog.DiscardHandler)

// nowhere is a database that is away: nobody listens on port 1.
const nowhere = "postgres://ada@127.0.0.1:1/stint?sslmode=disable"

func openOn(t *testing.T, url string) (*store.Store, Config) {
	t.Helper()
	return dbtest.Open(t, store.Config{URL: url}), Config{Log: quiet, URL: url, Migrate: schema.Auto}
}

// TestStartWaitsForADatabaseThatGoesAway: whichever step finds it gone.
func TestStartWaitsForADatabaseThatGoesAway(t *testing.T) {
	t.Parallel()
	s, c := openOn(t, nowhere)
	if _, err := prepare(t.Context(), c, s); !errors.Is(err, errWaiting) {
		t.Errorf("away at the first look: %v", err)
	}
	s, c = openOn(t, dbtest.Whole(t, store.Postgres))
	c.URL = nowhere
	if _, err := prepare(t.Context(), c, s); !errors.Is(err, errWaiting) {
		t.Errorf("away when it is to be migrated: %v", err)
	}
	s, c = openOn(t, dbtest.Whole(t, store.SQLite))
	conn, err := dbtest.DB(t, s).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "begin immediate"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := prepare(ctx, c, s); !errors.Is(err, errWaiting) {
		t.Errorf("somebody else writes: %v", err)
	}
}

// TestOnlyRefusalsThatPassAreWaitedFor: the others need a person who starts the
// server again.
func TestOnlyRefusalsThatPassAreWaitedFor(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{
		schema.CodeLockLost: true, schema.CodeUnsupported: false, schema.CodePending: false,
		schema.CodeEdited: false, schema.CodeBusy: false, schema.CodeBadIndex: false,
		schema.CodeStandby: true, schema.CodeReadOnly: true, schema.CodeEncoding: false, schema.CodeSession: false,
	} {
		if got := passes(Config{}, &schema.Error{Code: code}); got != want {
			t.Errorf("%s: waits %v, want %v", code, got, want)
		}
	}
}

// absent is the URL of a PostgreSQL database that does not exist.
func absent(t *testing.T) string {
	t.Helper()
	url := dbtest.Empty(t, store.Postgres)
	drop(t, url)
	t.Cleanup(func() { drop(t, url) })
	return url
}

func drop(t *testing.T, database string) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	name := path.Base(u.Path)
	db := dbtest.DB(t, dbtest.Open(t, store.Config{URL: os.Getenv("STINT_TEST_POSTGRES")}))
	if _, err := db.ExecContext(context.Background(), "drop database if exists "+name+" with (force)"); err != nil {
		t.Error(err)
	}
}

func TestStartMakesADatabaseThatDoesNotExist(t *testing.T) {
	t.Parallel()
	s, c := openOn(t, absent(t))
	c.Migrate = schema.Off
	if _, err := prepare(t.Context(), c, s); !errors.Is(err, errWaiting) {
		t.Errorf("off: %v, want it to wait for whoever makes it", err)
	}
	c.Migrate = schema.VerifyOnly
	if _, err := prepare(t.Context(), c, s); err == nil || errors.Is(err, errWaiting) {
		t.Errorf("verify: %v, want a refusal", err)
	}
	c.Migrate = schema.Auto
	if key, err := prepare(t.Context(), c, s); err != nil || len(key) != 32 {
		t.Errorf("auto: %v", err)
	}
}

func TestStartFailsAtOnceWhenTheServerLetsNobodyIn(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(dbtest.Empty(t, store.Postgres))
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("nobody_of_that_name", "s3cr3t")
	s, c := openOn(t, u.String())
	_, err = prepare(t.Context(), c, s)
	if err == nil || errors.Is(err, errWaiting) {
		t.Fatalf("%v, want a refusal", err)
	}
	if text := err.Error(); !strings.Contains(text, "nobody_of_that_name") || strings.Contains(text, "s3cr3t") || strings.Contains(text, "\n") {
		t.Errorf("the refusal is %q", text)
	}
}

func TestStartFailsAtOnceInADatabaseOfAnotherEncoding(t *testing.T) {
	t.Parallel()
	s, c := openOn(t, dbtest.Latin1(t))
	for _, mode := range []schema.Mode{schema.Auto, schema.VerifyOnly, schema.Off} {
		c.Migrate = mode
		_, err := prepare(t.Context(), c, s)
		if schema.Code(err) != schema.CodeEncoding || errors.Is(err, errWaiting) {
			t.Errorf("%s: %v, want a refusal of the encoding", mode, err)
		}
	}
}

// TestTokenFileStandsBeforeTheListenersOpen, and stays as it is unless its
// token is unknown to the database.
func TestTokenFileStandsBeforeTheListenersOpen(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "stint.db")
	s, c := openOn(t, "sqlite:"+file)
	read := func() string {
		t.Helper()
		text, err := os.ReadFile(file + ".token")
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if err := Prepare(t.Context(), c, s); err != nil {
		t.Fatal(err)
	}
	first := read()
	if err := Prepare(t.Context(), c, s); err != nil || read() != first {
		t.Errorf("a second start: %v, %q became %q", err, first, read())
	}
	dbtest.SQL(t, s, "alter table tokens rename to elsewhere")
	if err := Prepare(t.Context(), c, s); err == nil || read() != first {
		t.Errorf("a database that cannot say: %v, %q became %q", err, first, read())
	}
	dbtest.SQL(t, s, "alter table elsewhere rename to tokens")
	dbtest.SQL(t, s, "delete from tokens")
	if err := Prepare(t.Context(), c, s); err != nil || read() == first {
		t.Errorf("an unknown token: %v, it stands still", err)
	}
}

// readyLog closes ready when the server logs that it is.
type readyLog struct {
	once  sync.Once
	ready chan struct{}
}

func (l *readyLog) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "msg=ready") {
		l.once.Do(func() { close(l.ready) })
	}
	return len(p), nil
}

// TestAListenerThatFailsEndsTheServerWithoutDelay: the delay is for those who
// still get through.
func TestAListenerThatFailsEndsTheServerWithoutDelay(t *testing.T) {
	t.Parallel()
	s, c := openOn(t, dbtest.Whole(t, store.SQLite))
	log := &readyLog{ready: make(chan struct{})}
	c.Log, c.DrainDelay = slog.New(slog.NewTextHandler(log, nil)), time.Hour
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- Run(t.Context(), c, s, Listeners{Main: l}) }()
	<-log.ready
	l.Close()
	select {
	case err := <-ended:
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("ended with %v, want the listener's error", err)
		}
	case <-time.After(time.Minute):
		t.Error("the server waits for its drain delay")
	}
}
