package plans

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

var (
	earliest = coltype.At(time.Date(2, 1, 1, 0, 0, 0, 0, time.UTC))
	latest   = coltype.At(time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC))
	claimed  = record{"state": "claimed", "attempt": 1, "lease_token": "t", "claimed_by": "w", "lease_expires_at": at}
	done     = record{"state": "succeeded", "finished_at": at}

	refreshing    = record{"refresh_state": "removing", "refresh_run_id": "r", "refresh_generation": 1, "refresh_key": ""}
	acceptedBatch = record{"state": "accepted", "answer": "{}", "accepted_at": at}
)

// checks are, for each CHECK, rows that must pass and rows that must fail: the
// changes to a valid row of its table.
var checks = map[string]struct {
	table      string
	pass, fail []record
}{
	"idempotency_keys_status_check": {"idempotency_keys",
		[]record{{"status": 0}, {"status": 200}, {"status": 499}},
		[]record{{"status": 1}, {"status": 199}, {"status": 500}, {"status": -1}}},
	"repos_forge_check": {"repos",
		[]record{{"forge": "github"}, {"forge": "gitea"}, {"forge": "forgejo"}, {"forge": "gitlab"}},
		[]record{{"forge": "git_hub"}, {"forge": "GitHub"}, {"forge": "github "}, {"forge": ""}}},
	"repo_names_forge_check": {"repo_names",
		[]record{{"forge": "github"}, {"forge": "gitea"}, {"forge": "forgejo"}, {"forge": "gitlab"}},
		[]record{{"forge": "GitHub"}, {"forge": ""}}},
	"repo_names_case_check": {"repo_names",
		[]record{{"namespace": "a/b", "name": "x.2"}}, []record{{"namespace": "Acme"}, {"name": "Site"}}},
	"connector_streams_semantics_check": {"connector_streams",
		[]record{{"semantics": "append_only"}, {"semantics": "mutable_state"}}, []record{{"semantics": "append"}, {"semantics": ""}}},
	"connections_source_kind_check": {"connections",
		[]record{{"source_kind": "account"}, {"source_kind": "device"}, {"source_kind": "browser"}, {"source_kind": "manual"}},
		[]record{{"source_kind": "local_device"}, {"source_kind": ""}}},
	"connections_status_check": {"connections",
		[]record{{"status": "draft"}, {"status": "active"}, {"status": "paused"}, {"status": "revoked", "revoked_at": at}},
		[]record{{"status": "deleted"}, {"status": ""}}},
	"connections_actor_check": {"connections",
		[]record{{"actor": "ada", "acted_at": at}}, []record{{"actor": "ada"}, {"acted_at": at}}},
	"connections_revoked_check": {"connections",
		[]record{{"status": "revoked", "revoked_at": at}}, []record{{"status": "revoked"}, {"revoked_at": at}}},
	"connection_tombstones_source_kind_check": {"connection_tombstones",
		[]record{{"source_kind": "account"}, {"source_kind": "device"}, {"source_kind": "browser"}, {"source_kind": "manual"}},
		[]record{{"source_kind": "local_device"}, {"source_kind": ""}}},
	"owner_seq_floor_check": {"owner_seq",
		[]record{{"seq": 5, "floor": 5}}, []record{{"seq": 5, "floor": 6}, {"floor": -1}}},
	"partitions_version_check": {"partitions",
		[]record{{"version": 0}, {"version": 5, "floor_version": 5}}, []record{{"version": 5, "floor_version": 6}, {"floor_version": -1}}},
	"partitions_counts_check": {"partitions",
		[]record{{"live_count": 0}, {"live_count": 2, "undated_count": 2, "bad_time_count": 2}},
		[]record{{"live_count": -1}, {"undated_count": -1}, {"bad_time_count": -1}, {"undated_count": 10}, {"bad_time_count": 10}}},
	"partitions_refresh_state_check": {"partitions",
		[]record{with(refreshing, record{"refresh_state": "reading"}), refreshing}, []record{with(refreshing, record{"refresh_state": "done"}), with(refreshing, record{"refresh_state": ""})}},
	"partitions_refresh_check": {"partitions",
		[]record{refreshing}, []record{{"refresh_state": "reading"}, {"refresh_run_id": "r"}, {"refresh_generation": 1}, {"refresh_key": ""}}},
	"runs_lease_times_check": {"runs", []record{{"lease_expires_at": earliest}, {"lease_expires_at": latest}},
		[]record{{"lease_expires_at": sqlText("'infinity'")}, {"lease_expires_at": latest.Add(time.Microsecond)}}},
	"records_dated_by_check": {"records",
		[]record{{"dated_by": "data"}, {"dated_by": "emitted_at"}, {"dated_by": "nothing"}}, []record{{"dated_by": "none"}, {"dated_by": ""}}},
	"records_seq_check": {"records", []record{{"first_seq": 1, "seq": 1}}, []record{{"first_seq": 0}, {"first_seq": 2, "seq": 1}}},
	"record_versions_dated_by_check": {"record_versions",
		[]record{{"dated_by": "data"}, {"dated_by": "emitted_at"}, {"dated_by": "nothing"}}, []record{{"dated_by": "none"}, {"dated_by": ""}}},
	"record_versions_seq_check": {"record_versions", []record{{"seq": 1, "superseded_seq": 2}}, []record{{"seq": 2, "superseded_seq": 2}}},
	"day_counts_n_check":        {"day_counts", []record{{"n": 0}}, []record{{"n": -1}}},
	"ingest_batches_state_check": {"ingest_batches",
		[]record{{"state": "processing"}, acceptedBatch}, []record{{"state": "done"}, {"state": ""}}},
	"ingest_batches_lines_check":  {"ingest_batches", []record{{"durable_lines": 0}}, []record{{"durable_lines": -1}}},
	"ingest_batches_holder_check": {"ingest_batches", []record{{"holder": "h", "lease_expires_at": at}}, []record{{"holder": "h"}, {"lease_expires_at": at}}},
	"ingest_batches_accepted_check": {"ingest_batches",
		[]record{acceptedBatch},
		[]record{{"state": "accepted"}, {"answer": "{}"}, {"accepted_at": at}, with(acceptedBatch, record{"holder": "h", "lease_expires_at": at})}},
	"job_kinds_lease_check": {"job_kinds",
		[]record{{"lease_seconds": 10}, {"lease_seconds": 86400}}, []record{{"lease_seconds": 9}, {"lease_seconds": 86401}}},
	"job_kinds_attempts_check": {"job_kinds",
		[]record{{"max_attempts": 1}, {"max_attempts": 100}}, []record{{"max_attempts": 0}, {"max_attempts": 101}}},
	"job_kinds_backoff_check": {"job_kinds",
		[]record{{"backoff_base_seconds": 1, "backoff_cap_seconds": 1}, {"backoff_cap_seconds": 2592000}},
		[]record{{"backoff_base_seconds": 0}, {"backoff_base_seconds": 10, "backoff_cap_seconds": 9}, {"backoff_cap_seconds": 2592001}}},
	"job_kinds_timeout_check": {"job_kinds",
		[]record{{"timeout_seconds": nil}, {"timeout_seconds": 1}, {"timeout_seconds": 604800}}, []record{{"timeout_seconds": 0}, {"timeout_seconds": 604801}}},
	"jobs_state_check": {"jobs",
		[]record{{"state": "pending"}, claimed, done, {"state": "failed", "finished_at": at}, {"state": "cancelled", "finished_at": at}},
		[]record{{"state": "done"}, {"state": "Pending"}, {"state": ""}}},
	"jobs_waiting_for_check": {"jobs",
		[]record{{"waiting_for": "slot"}, {"waiting_for": "dependency"}, {"waiting_for": "connection"}},
		[]record{{"waiting_for": "pending"}, {"waiting_for": ""}}},
	"jobs_priority_check": {"jobs", []record{{"priority": 1}, {"priority": 4}}, []record{{"priority": 0}, {"priority": 5}}},
	"jobs_attempt_check": {"jobs",
		[]record{{"attempt": 5}, {"attempt": 100, "max_attempts": 100}},
		[]record{{"attempt": -1}, {"attempt": 6}, {"max_attempts": 0}, {"max_attempts": 101}}},
	"jobs_run_at_check": {"jobs", // TIM-01
		[]record{{"run_at": earliest}, {"run_at": latest}, {"run_at": coltype.At(time.Date(1969, 7, 20, 0, 0, 0, 0, time.UTC))}},
		[]record{{"run_at": earliest.Add(-time.Microsecond)}, {"run_at": latest.Add(time.Microsecond)}, {"run_at": coltype.Time{Time: time.Time{}}}}},
	"jobs_issue_check": {"jobs", []record{{"issue_number": nil}}, []record{{"issue_number": 7}}},
	"jobs_lease_check": {"jobs", []record{claimed},
		[]record{
			with(claimed, record{"lease_token": nil}), with(claimed, record{"claimed_by": nil}), with(claimed, record{"lease_expires_at": nil}),
			{"lease_token": "t"}, {"claimed_by": "w"}, {"lease_expires_at": at}, with(done, record{"claimed_by": "w"}),
		}},
	"jobs_waiting_check":  {"jobs", []record{{"waiting_for": "slot"}}, []record{with(claimed, record{"waiting_for": "slot"}), with(done, record{"waiting_for": "slot"})}},
	"jobs_again_check":    {"jobs", []record{with(claimed, record{"again": "{}"})}, []record{{"again": "{}"}, with(done, record{"again": "{}"})}},
	"jobs_actor_check":    {"jobs", []record{{"actor": "ada", "acted_at": at}}, []record{{"actor": "ada"}, {"acted_at": at}}},
	"jobs_finished_check": {"jobs", []record{done}, []record{{"state": "failed"}, {"finished_at": at}, with(claimed, record{"finished_at": at})}},
	"jobs_timeout_check": {"jobs",
		[]record{{"timeout_seconds": nil}, {"timeout_seconds": 1}, {"timeout_seconds": 604800}}, []record{{"timeout_seconds": 0}, {"timeout_seconds": 604801}}},
	"runs_kind_check": {"runs",
		[]record{{"kind": "job"}, {"kind": "scheduled"}, {"kind": "manual"}, {"kind": "browser"}, {"kind": "webhook"}},
		[]record{{"kind": "cron"}, {"kind": ""}}},
	"runs_status_check": {"runs",
		[]record{{"status": "running"}, ended("succeeded"), ended("succeeded_with_gaps"), ended("failed"), ended("cancelled"), ended("abandoned"), ended("skipped")},
		[]record{ended("in_progress"), ended("done"), ended("")}},
	"runs_origin_check":    {"runs", []record{{"origin": "live"}, {"origin": "backfill"}, {"origin": "import"}}, []record{{"origin": "dead"}}},
	"runs_completed_check": {"runs", []record{ended("failed")}, []record{{"completed_at": at}, {"status": "failed"}}},
	"proposals_state_check": {"proposals",
		[]record{{"state": "open"}, {"state": "merged", "closed_at": at}, {"state": "closed", "closed_at": at}},
		[]record{{"state": "Open"}, {"state": "draft"}, {"state": "", "closed_at": at}}},
	"proposals_closed_check":  {"proposals", []record{{"state": "merged", "closed_at": at}}, []record{{"closed_at": at}, {"state": "closed"}}},
	"proposals_version_check": {"proposals", []record{{"version": 1}}, []record{{"version": 0}}},
	"proposal_transitions_from_check": {"proposal_transitions",
		[]record{{"from_state": nil}, {"from_state": "open"}, {"from_state": "merged"}, {"from_state": "closed"}}, []record{{"from_state": ""}, {"from_state": "new"}}},
	"proposal_transitions_to_check": {"proposal_transitions",
		[]record{{"to_state": "open"}, {"to_state": "merged"}, {"to_state": "closed"}}, []record{{"to_state": ""}, {"to_state": "done"}}},
	"leases_term_check":             {"leases", []record{{"term": 1}}, []record{{"term": 0}}},
	"tokens_kind_check":             {"tokens", []record{{"kind": "bearer"}, {"kind": "session"}}, []record{{"kind": ""}, {"kind": "cookie"}}},
	"run_logs_place_check":          {"run_logs", []record{{"place": 1}}, []record{{"place": 0}}},
	"run_logs_seq_check":            {"run_logs", []record{{"seq": 1}}, []record{{"seq": 0}}},
	"run_logs_ends_check":           {"run_logs", []record{{"ends_at_byte": 0}}, []record{{"ends_at_byte": -1}}},
	"records_bad_time_check":        {"records", []record{{"bad_time": true}}, []record{{"bad_time": 2}}},
	"record_versions_deleted_check": {"record_versions", []record{{"deleted": true}}, []record{{"deleted": 2}}},
	"runs_scheduler_managed_check":  {"runs", []record{{"scheduler_managed": true}}, []record{{"scheduler_managed": 2}}},
}

func ended(status string) record { return record{"status": status, "completed_at": at} }

// migrations is the text of an engine's migrations.
func migrations(t *testing.T, engine string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "schema", engine, "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no migrations: %v", err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

var named = regexp.MustCompile(`constraint (\w+) check`)

func TestEachCheckPassesAndRefusesTheRowsItShould(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		p := newPlanter(t, s, "ada")
		for _, m := range named.FindAllStringSubmatch(migrations(t, s.Engine()), -1) {
			c, ok := checks[m[1]]
			if !ok || len(c.pass) == 0 || len(c.fail) == 0 {
				t.Errorf("no rows for the constraint %s: add rows that it takes and refuses to checks (server/plans/checks_test.go)", m[1])
				continue
			}
			for i, change := range slices.Concat(c.pass, c.fail) {
				name := m[1] + string(rune('a'+i))
				p.insertParents(c.table)
				err := p.try(c.table, with(p.valid(c.table, name), change))
				switch bad := i >= len(c.pass); {
				case !bad && err != nil:
					t.Errorf("%s refused %v: %v", m[1], change, err)
				case bad && err == nil:
					t.Errorf("%s took %v", m[1], change)
				case bad && !constraint(err):
					t.Errorf("%s: %v was refused by %v", m[1], change, err)
				}
			}
		}
	})
}

func TestPostgresHasNoConstraintOrColumnLeftBehind(t *testing.T) {
	t.Parallel()
	s := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.Postgres)})
	for what, query := range map[string]string{
		// A migration adds it as not valid, so that it does not read a busy table
		// under a lock, and the next one validates it.
		"constraints that no migration validates": "select conname from pg_constraint where not convalidated",
		// Ids and keys are compared bytewise, as SQLite does.
		`text columns without collate "C"`: `select c.relname || '.' || a.attname from pg_attribute a join pg_class c on c.oid = a.attrelid
			where c.relkind = 'r' and c.relnamespace = current_schema::regnamespace and c.relname <> 'schema_migrations'
				and a.atttypid = 'text'::regtype and a.attcollation <> '"C"'::regcollation`,
	} {
		if found := dbtest.Get[string](t, s, "select coalesce(string_agg(name, ', '), '') from ("+query+") q(name)"); found != "" {
			t.Errorf("%s: %s", what, found)
		}
	}
}

// SQ-09, TIM-01, TIM-04: what a column is not made for is refused on both
// engines, and NULL does not pass a CHECK list.
func TestColumnsRefuseWhatTheyAreNotMadeFor(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		p := newPlanter(t, s, "ada")
		for _, table := range p.tables.parentsFirst() {
			p.insertParents(table)
			p.insert(table, p.valid(table, table+"-good"))
			for _, c := range p.tables[table] {
				for _, value := range c.refuses() {
					if err := p.try(table, with(p.valid(table, table+"-bad"), record{c.name: value})); err == nil {
						t.Errorf("%s took %v as %s: declare the column not null, a key or a type that refuses it (schema/)", table, value, c.name)
					}
				}
			}
		}
		for _, infinity := range []sqlText{"'infinity'", "'-infinity'"} {
			if err := p.try("jobs", with(p.valid("jobs", "jobs-bad"), record{"run_at": infinity})); err == nil {
				t.Errorf("a job took %s as run_at", infinity)
			}
		}
		if s.Engine() == store.SQLite {
			lax := dbtest.Get[int](t, s, "select count(*) from pragma_table_list where type = 'table' and strict = 0 and name not like 'sqlite_%' and name <> 'schema_migrations'")
			if lax != 0 {
				t.Errorf("%d tables are not STRICT", lax)
			}
		}
	})
}

// refuses are values that a column must not take.
func (c column) refuses() (out []any) {
	if !c.nullable {
		out = append(out, nil)
	}
	if c.references != "" {
		out = append(out, "unknown")
	}
	switch {
	case c.time(), c.kind == "boolean":
		out = append(out, sqlText("'soon'"))
	case c.kind == "integer", c.kind == "bigint":
		out = append(out, sqlText("'1x'"), sqlText("9223372036854775808"))
	}
	return out
}
