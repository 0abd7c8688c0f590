package apitest

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stint-run/stint/server"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/web"
)

// Server is a whole server of this process, with its loops. The client holds an
// admin token of an owner.
type Server struct {
	*Client
	Admin *Client // of the health routes' own listener
	Store *store.Store
	Log   *Log
	Owner string       // its name
	URL   string       // of the database
	Stop  func() error // drains, and returns what Run returned; nil for a shared one
}

// Serve runs a server on s until the test ends. Its owner is "ada".
func Serve(t *testing.T, s *store.Store) *Server {
	t.Helper()
	return ServeWith(t, s, server.Config{})
}

// ServeWith is Serve with settings.
func ServeWith(t *testing.T, s *store.Store, config server.Config) *Server {
	t.Helper()
	r, err := begin(s, dbtest.URLOf(t, s), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
		CheckLog(t, r.log.unread()) // of the shutdown
	})
	in := r.of(t, "ada")
	in.Stop = r.stop
	return in
}

// running is a server, whoever uses it.
type running struct {
	store       *store.Store
	url         string // of its database
	main, admin string // where it listens
	log         Log
	stop        func() error
}

// Settings of the environment for `stint serve` as a process: long waits for its
// database, so that a slow machine fails no test, and the product's, for tests
// that are about them.
const (
	LongWaits    = "STINT_TEST_WAITS=30s"
	ProductWaits = "STINT_TEST_WAITS="
)

// reapEvery is short, so that tests need not wait for the reaper.
const reapEvery = 500 * time.Millisecond

// begin starts a server.
func begin(s *store.Store, url string, config server.Config) (*running, error) {
	var l server.Listeners
	var err error
	if l.Main, err = net.Listen("tcp", "127.0.0.1:0"); err == nil {
		l.Admin, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, err
	}
	r := &running{store: s, url: url, main: "http://" + l.Main.Addr().String(), admin: "http://" + l.Admin.Addr().String()}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	config.Version, config.URL, config.ReapEvery = "test", url, reapEvery
	config.Log = slog.New(slog.NewTextHandler(&r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	go func() { ended <- server.Run(ctx, config, s, l) }()
	r.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	return r, nil
}

// of gives a test its view of the server: a client with an admin token of the
// owner.
func (r *running) of(t *testing.T, owner string) *Server {
	t.Helper()
	t.Cleanup(func() { CheckLog(t, r.log.unread()) })
	in := &Server{Store: r.store, Log: &r.log, Owner: owner, URL: r.url}
	in.Client = NewClient(t, func() string { return r.main }, Token(t, r.store, owner, web.ScopeAdmin))
	in.Admin = NewClient(t, func() string { return r.admin }, "")
	Await(t, "ready", in.Ready)
	return in
}

// Secrets have a form of their own, so that every log can be searched for them:
// tokens, sessions, login links, lease tokens, and the header that carries one.
var Secrets = regexp.MustCompile(`stint_(session_|login_)?[0-9A-Za-z]{33}|[A-Z2-7]{26}\.job_|(?i)bearer `)

// CheckLog fails the test if a server's log shows a secret or a defect. If the
// test has failed, it shows the errors in the log.
func CheckLog(t testing.TB, log string) {
	t.Helper()
	for _, wrong := range logFaults(log) {
		t.Error(wrong)
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

// logFaults are what no log may show.
func logFaults(log string) (wrong []string) {
	if at := Secrets.FindStringIndex(log); at != nil {
		wrong = append(wrong, fmt.Sprintf("a secret is in the log: …%s…", log[max(0, at[0]-200):min(len(log), at[1]+20)]))
	}
	for _, word := range []string{"database is locked", "panic:", "DATA RACE"} {
		if strings.Contains(log, word) {
			wrong = append(wrong, fmt.Sprintf("the log has %q", word))
		}
	}
	return wrong
}
