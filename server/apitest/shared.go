package apitest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// Shared is the server of an engine that the tests of this process share, for
// tests that need no more than an owner: the client is that of a new one. Their
// TestMain ends with Main.
func Shared(t *testing.T, engine string) *Server {
	t.Helper()
	url := ""
	if engine == store.Postgres {
		url = dbtest.Shared(t, engine)
	}
	r, err := shared.get(engine, url)
	if err != nil {
		t.Fatal(err)
	}
	return r.of(t, Unique("owner"))
}

// Each runs fn against the shared servers of both engines.
func Each(t *testing.T, fn func(t *testing.T, s *Server)) {
	t.Helper()
	dbtest.Engines(t, func(t *testing.T, engine string) { fn(t, Shared(t, engine)) })
}

// Main runs the tests of a package, and ends what they shared.
func Main(m *testing.M) int {
	code := m.Run()
	if err := shared.end(); err != nil {
		fmt.Fprintln(os.Stderr, "the shared servers:", err)
		return max(code, 1)
	}
	return code
}

var shared servers

// servers are the shared ones, by engine.
type servers struct {
	mu  sync.Mutex
	all map[string]*running
	dir string // of SQLite's file
}

// get is the server of an engine, which the first call starts.
func (s *servers) get(engine, url string) (*running, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.all[engine]; r != nil {
		return r, nil
	}
	if engine == store.SQLite {
		var err error
		if url, err = s.file(); err != nil {
			return nil, err
		}
	}
	db, err := store.Open(context.Background(), store.Config{URL: url, Waits: dbtest.LongWaits, Durability: store.Normal})
	if err != nil {
		return nil, err
	}
	r, err := begin(db, url, server.Config{})
	if err != nil {
		return nil, err
	}
	if s.all == nil {
		s.all = map[string]*running{}
	}
	s.all[engine] = r
	return r, nil
}

// file makes the SQLite file.
func (s *servers) file() (url string, err error) {
	if s.dir, err = os.MkdirTemp("", "stint-shared-"); err != nil {
		return "", err
	}
	url = "sqlite:" + filepath.Join(s.dir, "stint.db")
	_, err = schema.Migrate(context.Background(), schema.Options{URL: url})
	return url, err
}

// end stops the servers. What they wrote since the last test's check is checked
// here: most of it is of their shutdown.
func (s *servers) end() error {
	var all []error
	for _, r := range s.all {
		all = append(all, r.stop())
		r.store.Close()
		for _, wrong := range logFaults(r.log.unread()) {
			all = append(all, errors.New(wrong))
		}
	}
	if s.dir != "" {
		all = append(all, os.RemoveAll(s.dir))
	}
	return errors.Join(all...)
}
