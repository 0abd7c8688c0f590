//go:build record

package kept

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/repos"
	"github.com/stint-run/stint/server/store"
)

// TestRecord writes schema/testdata/NNNN for the newest migration of this
// build. The same rows, ids and times go into both engines: PostgreSQL's are
// made, and SQLite's are copied from them.
func TestRecord(t *testing.T) {
	versions := schema.Expected(schema.Postgres)
	dir := filepath.Join(dbtest.Root(t), "schema", "testdata", versions[len(versions)-1])
	if _, err := os.Stat(dir); err == nil {
		t.Fatalf("%s exists: a release is recorded once. If it is not in schema/sums.txt yet, remove the folder and record it again", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	pg := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.Postgres)})
	fill(t, pg)
	fillRuns(t, pg)
	fillSources(t, pg, dbtest.Get[string](t, pg, "select id from owners where name = $1", keptOwner))
	rows := rowsOf(t, pg, columnsOf(t, pg))
	lite := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.SQLite)})
	copyRows(t, lite, rows)
	writeJSON(t, filepath.Join(dir, "rows.json"), rows)
	writeJSON(t, filepath.Join(dir, "statements.json"), map[string]map[string]string{
		store.Postgres: dbtest.Statements(t, store.Postgres), store.SQLite: dbtest.Statements(t, store.SQLite),
	})
	keepSQLite(t, lite, filepath.Join(dir, "sqlite.db"))
	keepPostgres(t, pg, filepath.Join(dir, "postgres.sql"))
}

// fill leaves rows in every table: jobs of every state, runs of every end that
// a job brings, a kind with settings, a repository, tokens, a kept answer.
func fill(t *testing.T, s *store.Store) {
	ctx, now := t.Context(), dbtest.T0
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.Tx(ctx, func(q model.Querier) error {
		owner, _, err := control.CreateOwner(ctx, q, now, keptOwner)
		must(err)
		_, _, err = control.Issue(ctx, q, now, control.TokenIn{OwnerID: owner.ID, Name: "kept", Scopes: []string{"admin"}, ExpiresAt: now.Add(time.Hour)})
		must(err)
		key := control.Key{OwnerID: owner.ID, Principal: "tok", Route: "POST /v1/jobs", Key: "k", Fingerprint: "f"}
		_, err = control.Reserve(ctx, q, now, control.DefaultKeyTTL, key)
		must(err)
		must(control.Keep(ctx, q, key, control.Kept{Status: 201, Body: `{"kept":true}`}))
		_, err = q.MetaInsert(ctx, model.MetaInsertParams{Key: "kept", Value: "yes"})
		must(err)
		ref := repos.Ref{Forge: "github", Host: "github.com", Namespace: "Acme", Name: "Widget"}
		number, one, day := int64(7), int64(1), int64(86_400)
		var items []jobs.EnqueueIn
		for i := range 8 {
			name := "key-" + string(rune('a'+i))
			items = append(items, jobs.EnqueueIn{Kind: "implement", Key: &name, Payload: coltype.JSON(`{"n":9007199254740993,"s":"ü"}`), MaxAttempts: &one, Timeout: &day})
		}
		items = append(items, jobs.EnqueueIn{Kind: "implement", Repo: &ref, IssueNumber: &number, RunAt: now.Add(time.Hour)})
		_, err = jobs.Enqueue(ctx, q, now, owner.ID, items)
		must(err)
		claimed, err := jobs.Claim(ctx, q, now, jobs.ClaimIn{OwnerID: owner.ID, Worker: "w", Kinds: []string{"implement"}, Limit: 6})
		must(err)
		taken := claimed.Jobs
		for i, action := range []string{jobs.Complete, jobs.Fail, jobs.Snooze, jobs.Release} {
			_, err = jobs.Finish(ctx, q, now, jobs.FinishIn{
				OwnerID: owner.ID, ID: taken[i].Job.ID, LeaseToken: *taken[i].Job.LeaseToken, Action: action,
				Result: coltype.JSON(`[1,null]`), Error: coltype.JSON(`{"code":"broken","message":"x"}`), Seconds: 60, Jitter: 1,
			})
			must(err)
		}
		_, err = jobs.Heartbeat(ctx, q, now, jobs.HeartbeatIn{OwnerID: owner.ID, ID: taken[4].Job.ID, LeaseToken: *taken[4].Job.LeaseToken, Progress: coltype.JSON(`{"done":1}`)})
		must(err)
		in := items[5]
		again, err := jobs.Enqueue(ctx, q, now, owner.ID, []jobs.EnqueueIn{in})
		must(err)
		if !again[0].Again {
			t.Fatal("the duplicate of a claimed job was not kept")
		}
		_, err = jobs.Cancel(ctx, q, now, jobs.ByHandIn{OwnerID: owner.ID, ID: taken[2].Job.ID, Actor: "kept"})
		must(err)
		fillProposals(t, q, owner.ID, taken[0].RunID)
		return fillControl(t, q, owner.ID)
	}))
}

// fillProposals leaves a proposal in each state, one of them opened again.
func fillProposals(t *testing.T, q model.Querier, owner, run string) {
	ctx, now := t.Context(), dbtest.T0
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	stream, body, base, link := "main", "It leaked.", "4f2a", "https://example.org/7"
	got, err := repos.Track(ctx, q, now, repos.TrackIn{OwnerID: owner, Ref: repos.Ref{Forge: "gitea", Host: "git.example.org", Namespace: "Acme", Name: "Site"}, DefaultStream: &stream})
	must(err)
	for i, moves := range [][]string{{}, {repos.Merged}, {repos.Closed}, {repos.Closed, repos.Open}} {
		made, err := repos.Create(ctx, q, now, repos.ProposalIn{
			OwnerID: owner, RepoID: got.Repo.ID, Stream: stream, Head: "fix-" + string(rune('a'+i)), Base: &base, Title: "Mend <the> roof ü",
			Body: &body, Author: "ada", URL: &link, RunID: &run, Actor: "kept",
		})
		must(err)
		for _, to := range moves {
			_, err := repos.Move(ctx, q, now, repos.MoveIn{
				OwnerID: owner, ID: made.Proposal.ID, To: to, Actor: "kept", Match: func(int64) error { return nil },
			})
			must(err)
		}
	}
}

// fillControl leaves a lease, a worker, a login link, and the session of
// another one.
func fillControl(t *testing.T, q model.Querier, owner string) error {
	ctx, now := t.Context(), dbtest.T0
	link := control.LinkIn{OwnerID: owner, Name: "kept", Scopes: []string{"jobs:read"}, Life: 10 * time.Minute, Session: time.Hour}
	for _, use := range []bool{false, true} {
		secret, _, err := control.NewLink(ctx, q, now, link)
		if err == nil && use {
			_, _, err = control.Login(ctx, q, now, secret)
		}
		if err != nil {
			return err
		}
	}
	if _, err := q.WorkerSeen(ctx, model.WorkerSeenParams{Rows: fmt.Sprintf(`[{"owner_id":%q,"name":"w","at":%d}]`, owner, now.UnixMicro())}); err != nil {
		return err
	}
	_, err := q.LeaseTake(ctx, model.LeaseTakeParams{Name: "run-reaper", Holder: "kept", TakenAt: now, ExpiresAt: now.Add(time.Minute)})
	return err
}

// fillRuns leaves a kind with a time limit, a warning, two pieces of what one
// attempt printed, and an old name of a repository.
func fillRuns(t *testing.T, s *store.Store) {
	dbtest.SQL(t, s, `insert into repo_names (owner_id, forge, host, namespace, name, repo_id, replaced_at)
		select owner_id, forge, host, 'acme', 'gadget', id, created_at from repos where name = 'Widget'`)
	dbtest.SQL(t, s, "update job_kinds set timeout_seconds = 604800 where name = 'review'")
	dbtest.SQL(t, s, "update runs set warning = 'The result was no JSON: ü' where status = 'succeeded'")
	for i := range 2 {
		dbtest.SQL(t, s, `insert into run_logs (run_id, place, seq, text, ends_at_byte, created_at)
			select id, $1, $2, 'kept
', $3, created_at from runs order by id limit 1`, 64*(i+1), i+1, 5*(i+1))
	}
}

// columnsOf names the tables and their columns, in one row each.
func columnsOf(t *testing.T, s *store.Store) map[string][]map[string]any {
	rows, err := dbtest.DB(t, s).QueryContext(t.Context(),
		`select table_name, column_name from information_schema.columns where table_schema = 'public' and table_name <> 'schema_migrations'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := map[string][]map[string]any{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			t.Fatal(err)
		}
		if out[table] == nil {
			out[table] = []map[string]any{{}}
		}
		out[table][0][column] = nil
	}
	return out
}

// copyRows puts the rows into SQLite, parents first.
func copyRows(t *testing.T, s *store.Store, rows map[string][]map[string]any) {
	db := dbtest.DB(t, s)
	order := []string{"owners", "tokens", "meta", "idempotency_keys", "repos", "repo_names", "job_kinds", "jobs", "runs",
		"run_logs", "proposals", "proposal_transitions", "leases", "workers", "login_links",
		"connectors", "connector_streams", "connections", "connection_tombstones", "connection_removals", "connection_heads",
		"connection_devices", "owner_seq", "partitions", "records", "record_versions", "day_counts", "checkpoints",
		"record_rejections", "ingest_batches"}
	for table := range rows {
		if !slices.Contains(order, table) {
			t.Fatalf("server/kept/record_test.go: write the table %s into order, behind the tables that it refers to, and give it rows in fill", table)
		}
	}
	for _, table := range order {
		for _, row := range rows[table] {
			var columns, marks []string
			var values []any
			for column := range row {
				columns = append(columns, column)
			}
			slices.Sort(columns)
			for _, column := range columns {
				marks = append(marks, "?")
				values = append(values, row[column])
			}
			text := "insert into " + table + " (" + join(columns) + ") values (" + join(marks) + ")"
			if _, err := db.ExecContext(t.Context(), text, values...); err != nil {
				t.Fatalf("%s: %v", table, err)
			}
		}
	}
}

func join(list []string) string {
	out := ""
	for i, s := range list {
		if i > 0 {
			out += ", "
		}
		out += s
	}
	return out
}

// keepSQLite copies the database into one file without a log beside it.
func keepSQLite(t *testing.T, s *store.Store, path string) {
	if _, err := dbtest.DB(t, s).ExecContext(t.Context(), "vacuum into ?", path); err != nil {
		t.Fatal(err)
	}
}

// keepPostgres dumps the database as inserts, without psql's own commands.
func keepPostgres(t *testing.T, s *store.Store, path string) {
	dump, err := exec.Command("pg_dump", "--inserts", "--no-owner", "--no-privileges", dbtest.URLOf(t, s)).Output()
	if err != nil {
		t.Fatal(err)
	}
	psql := regexp.MustCompile(`(?m)^(\\.*|-- (Dumped|PostgreSQL).*)\n`)
	if err := os.WriteFile(path, psql.ReplaceAll(dump, nil), 0o644); err != nil {
		t.Fatal(err)
	}
}

func writeJSON(t *testing.T, path string, v any) {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
