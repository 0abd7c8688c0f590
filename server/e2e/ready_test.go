package e2e

import (
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// red waits until /readyz answers 503 with a code, while /livez stays green.
func red(t *testing.T, p *process, code string) {
	t.Helper()
	apitest.Await(t, "ready is red: "+code, func() bool {
		a := p.Get("/readyz")
		return a.Status == http.StatusServiceUnavailable && a.Str("code") == code
	})
	if a := p.Get("/livez"); a.Status != http.StatusOK {
		t.Errorf("/livez: %s", a)
	}
}

// TestReadyIsRedWhileAVersionIsMissing, and green again by itself.
func TestReadyIsRedWhileAVersionIsMissing(t *testing.T) {
	t.Parallel()
	eachOnFresh(t, func(t *testing.T, p *process) {
		p.db.exec("create table kept_versions as select * from schema_migrations where version = '0001'")
		p.db.exec("delete from schema_migrations where version = '0001'")
		red(t, p, "unavailable")
		if a := p.Get("/readyz?verbose"); a.Str("replica.schema") != "pending" || a.Str("replica.pending.0") != "0001" {
			t.Errorf("missing: %s", a)
		}
		p.db.exec("insert into schema_migrations select * from kept_versions")
		apitest.Await(t, "ready", p.Client.Ready)
		p.Must(201, "/v1/jobs", keyed)
	})
}

// TestServerThatDoesNotMigrateWaitsForWhoeverDoes: started with --migrate off,
// it becomes ready when somebody has migrated, and serves.
func TestServerThatDoesNotMigrateWaitsForWhoeverDoes(t *testing.T) {
	t.Parallel()
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			p := newProcess(t, dbtest.Empty(t, engine), "--migrate", "off")
			p.launch()
			apitest.Await(t, "listening", func() bool {
				a, err := p.Try(t.Context(), http.MethodGet, "/livez", "")
				return err == nil && a.Status == http.StatusOK
			})
			red(t, p, "unavailable")
			if out, code := command(t, "migrate", "up", "--db", p.url); code != 0 {
				t.Fatalf("migrate up: exit code %d\n%s", code, out)
			}
			p.awaitReady()
			p.Token = apitest.Token(t, dbtest.Open(t, store.Config{URL: p.url}), "ada", "admin")
			p.Must(201, "/v1/jobs", keyed)
		})
	}
}

// TestReadyIsRedWhileDraining, on the API's address for as long as that accepts.
func TestReadyIsRedWhileDraining(t *testing.T) {
	t.Parallel()
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			p := start(t, engine, "--drain-delay", "4s")
			began := time.Now()
			p.signal(syscall.SIGTERM)
			red(t, p, "draining")
			if a := p.Post("/v1/jobs/claim", `{"worker":"w","kinds":["review"]}`); a.Status != 503 || a.Str("code") != "draining" {
				t.Errorf("a claim: %s", a)
			}
			p.Must(201, "/v1/jobs", keyed)
			if code := p.exit(40 * time.Second); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if took := time.Since(began); took < 4*time.Second {
				t.Errorf("it ended after %s", took)
			}
			p.restart() // ready again
		})
	}
}
