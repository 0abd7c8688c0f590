package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stint-run/stint/server"
	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

var engines = []string{store.SQLite, store.Postgres}

// inProcess is a whole server of this process, as an owner sees it, and a
// connection to its database.
type inProcess struct {
	*apitest.Server
	db *beside
}

// each runs fn on the servers that all tests share, one of each engine, for an
// owner of the test's own.
func each(t *testing.T, fn func(t *testing.T, s *inProcess)) {
	t.Helper()
	dbtest.Engines(t, func(t *testing.T, engine string) { fn(t, shared(t, engine)) })
}

func shared(t *testing.T, engine string) *inProcess {
	t.Helper()
	s := apitest.Shared(t, engine)
	return &inProcess{Server: s, db: lookBeside(t, s.URL)}
}

// eachOwn is each for what is about the server, its clock or all owners: a
// server and a database of the test's own.
func eachOwn(t *testing.T, fn func(t *testing.T, s *inProcess)) {
	t.Helper()
	dbtest.Engines(t, func(t *testing.T, engine string) { fn(t, serveOn(t, engine, store.Config{})) })
}

// serveOn is a server of this process on a database of one engine of its own.
func serveOn(t *testing.T, engine string, c store.Config) *inProcess {
	t.Helper()
	c.URL = dbtest.Whole(t, engine)
	return serveHere(t, dbtest.Open(t, c))
}

func serveHere(t *testing.T, s *store.Store) *inProcess {
	t.Helper()
	return serveHereWith(t, s, server.Config{})
}

func serveHereWith(t *testing.T, s *store.Store, c server.Config) *inProcess {
	t.Helper()
	return &inProcess{Server: apitest.ServeWith(t, s, c), db: lookBeside(t, dbtest.URLOf(t, s))}
}

// awaitInFlight waits until the server answers n requests. One that the client
// has written may still be unread, and a stopping server resets its connection.
func (s *inProcess) awaitInFlight(n int) {
	s.T.Helper()
	apitest.Await(s.T, fmt.Sprint(n, " requests in flight"), func() bool {
		found, _ := s.scrape().value("stint_http_requests_in_flight", "")
		return int(found) == n+1 // and the scrape
	})
}

// count is how many rows of the owner's there are, as in "jobs where attempt = 1".
func (s *inProcess) count(what string) int64 {
	s.T.Helper()
	table, condition, found := strings.Cut(what, " where ")
	if !found {
		condition = "true"
	}
	owned, args := ownedBy(s.Owner)
	return s.db.number("select count(*) from "+table+" where "+owned+" and ("+condition+")", args...)
}

// ownedBy is the condition of the rows of owners of these names, and its
// arguments.
func ownedBy(names ...string) (condition string, args []any) {
	places := make([]string, len(names))
	for i, name := range names {
		places[i] = fmt.Sprintf("$%d", i+1)
		args = append(args, name)
	}
	return "owner_id in (select id from owners where name in (" + strings.Join(places, ", ") + "))", args
}
