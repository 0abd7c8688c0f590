package e2e

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// TestMigrationsLeaveAStandbyForThePrimary: with the standby first in the URL,
// as after a failover, migrate and serve write where writes are taken.
func TestMigrationsLeaveAStandbyForThePrimary(t *testing.T) {
	t.Parallel()
	primary, err := url.Parse(dbtest.Empty(t, store.Postgres))
	must(t, err)
	c := newCluster(t)
	c.start()
	c.sql("create database " + path.Base(primary.Path))
	c.stop()
	c.write("standby.signal", "")
	c.start()

	alone := *primary
	alone.Host = fmt.Sprintf("127.0.0.1:%d", c.port)
	for _, tt := range []struct {
		args string
		code int
		says string
	}{
		{"migrate up", 75, "is a standby, which takes no writes: name the primary"},
		{"token list --owner ada", 75, "is a standby"},
		{"migrate verify", 1, "pending"},
		{"migrate status", 0, "pending"},
	} {
		out, errs, code := stint(t, nil, append(strings.Fields(tt.args), "--db", alone.String())...)
		if code != tt.code || !strings.Contains(out+errs, tt.says) {
			t.Errorf("%s on a standby: exit code %d, %s%s", tt.args, code, out, errs)
		}
	}

	both := *primary
	both.Host = alone.Host + "," + primary.Host
	if out, errs, code := stint(t, nil, "migrate", "up", "--db", both.String()); code != 0 || !strings.Contains(out, "0001") {
		t.Fatalf("migrate up: exit code %d, %s%s", code, out, errs)
	}
	p := newProcess(t, both.String())
	p.launch()
	p.awaitReady()
}
