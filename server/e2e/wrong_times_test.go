package e2e

import (
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// What a process left whose clock was two days ahead is taken over by the next one
// at once, whether the first was killed or stopped.
func TestWhatAWrongClockLeftIsTakenOver(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(p *process){
		"killed":  func(p *process) { p.kill9() },
		"stopped": func(p *process) { p.signal(syscall.SIGTERM); p.exit(time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.SQLite)})
			p := newProcess(t, dbtest.URLOf(t, s), "--reap-every", "200ms", "--drain-delay", "0s")
			p.Token = apitest.Token(t, s, "ada", "admin")
			p.env = []string{"STINT_TEST_CLOCK_SKEW=48h"}
			p.launch()
			p.awaitReady()
			job := claimed(p.Client)
			apitest.Await(t, "the reaper has its lease", func() bool { return strings.Contains(p.log.String(), "lease=run-reaper") })
			end(p)
			p.env = nil
			p.restart()
			apitest.Await(t, "the job is taken back", func() bool { return p.Get("/v1/jobs/"+job.id).Str("state") == "pending" })
			again := p.Must(200, "/v1/jobs/claim", `{"worker":"w-2","kinds":["`+p.Get("/v1/jobs/"+job.id).Str("kind")+`"]}`)
			if again.Str("jobs.0.id") != job.id {
				t.Errorf("claimed %s", again)
			}
			for _, told := range []string{"ended a lease that was to end later", "took back a job whose lease was to end later"} {
				if n := strings.Count(p.log.String(), told); n == 0 || strings.Contains(told, "job") && n != 1 {
					t.Errorf("%q is told %d times", told, n)
				}
			}
		})
	}
}

// Rows with times that no clock tells, written by hand or by an earlier release,
// answer every read, and stop no pass.
func TestReadsAnswerWhateverTimesRowsHave(t *testing.T) {
	t.Parallel()
	dbtest.Engines(t, func(t *testing.T, engine string) {
		s := dbtest.Open(t, store.Config{URL: dbtest.Fresh(t, engine)})
		for _, table := range []string{
			"jobs", "runs", "idempotency_keys", "tokens", "login_links", "leases",
			"connectors", "connector_streams", "connections", "connection_tombstones", "connection_removals", "connection_heads",
			"connection_devices", "partitions", "records", "record_versions", "checkpoints", "record_rejections", "ingest_batches",
		} {
			dbtest.SQL(t, s, "alter table "+table+" drop constraint "+table+"_times_check")
		}
		dbtest.SQL(t, s, "alter table runs drop constraint runs_lease_times_check")
		server := serveHere(t, s)
		reads := map[operation]target{}
		clients := map[string]*apitest.Client{}
		for _, o := range operations(t, server.Client) {
			if !o.mutates {
				c := server.As(apitest.Token(t, s, apitest.Unique("owner"), "admin"))
				to := rows[o.id](c)
				to.headers = nil
				clients[o.id], reads[o] = c, to
			}
		}
		for _, bad := range map[string][]string{store.Postgres: {"'infinity'", "'-infinity'", "'20000-01-01'"}, store.SQLite: {"9223372036854775807", "-9223372036854775808", "253402300800000000"}}[engine] {
			spoil(t, server.db, bad)
			for o, to := range reads {
				a := o.send(clients[o.id], to)
				if succeeds(t, o, a); noText.Match(a.Body) {
					t.Errorf("%s shows a time that has no text form: %s", o.path, a)
				}
			}
		}
		if log := server.Log.String(); strings.Contains(log, "background pass failed") {
			t.Errorf("a pass failed:\n%s", log)
		}
	})
}

// noText is a time of a year that RFC 3339 does not have.
var noText = regexp.MustCompile(`"(\d{5,}|-\d+|0000|0001)-\d\d-\d\d`)

// spoil gives every time in the database that value, but what a CHECK of the
// first release keeps from it.
func spoil(t *testing.T, db *beside, value string) {
	t.Helper()
	columns := `select table_name, column_name from information_schema.columns where table_schema = 'public' and column_name like '%\_at'`
	if db.engine == store.SQLite {
		columns = `select s.name, c.name from sqlite_schema s join pragma_table_info(s.name) c where s.type = 'table' and c.name like '%\_at' escape '\'`
	}
	spoiled := db.query(columns)
	if len(spoiled) < 30 {
		t.Fatalf("%d columns of times", len(spoiled))
	}
	for _, c := range spoiled {
		table, column := c[0].(string), c[1].(string)
		if table+"."+column != "jobs.run_at" {
			db.exec("update " + table + " set " + column + " = " + value + " where " + column + " is not null")
		}
	}
}
