package kept

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/schema/next"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/store"
)

var engines = []string{store.SQLite, store.Postgres}

// releases are the folders of schema/testdata, one per release.
func releases(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(dbtest.Root(t), "schema", "testdata", "[0-9][0-9][0-9][0-9]"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no kept databases: %v", err)
	}
	return dirs
}

// A release may bring several migrations; it is kept under the last of them.
func TestTheNewestReleaseIsKept(t *testing.T) {
	t.Parallel()
	sums, err := os.ReadFile(filepath.Join(dbtest.Root(t), "schema", "sums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	newest := ""
	for _, version := range schema.Expected(schema.Postgres) {
		if strings.Contains(string(sums), "/"+version+"_") {
			newest = version
		}
	}
	kept := filepath.Join(dbtest.Root(t), "schema", "testdata", newest)
	if !slices.Contains(releases(t), kept) {
		t.Errorf("%s is in schema/sums.txt, but schema/testdata/%s is missing; record it on the commit of the release: "+
			"make test pkg=./server/kept args='-tags record -run TestRecord'", newest, newest)
	}
}

func TestKeptDatabaseIsUpgradedAndWorks(t *testing.T) {
	t.Parallel()
	for _, dir := range releases(t) {
		for _, engine := range engines {
			t.Run(filepath.Base(dir)+"/"+engine, func(t *testing.T) {
				t.Parallel()
				url := restore(t, engine, dir)
				if _, err := schema.Migrate(t.Context(), schema.Options{URL: url}); err != nil {
					t.Fatal(err)
				}
				s := dbtest.Open(t, store.Config{URL: url})
				var want map[string][]map[string]any
				readJSON(t, filepath.Join(dir, "rows.json"), &want)
				if diff := cmp.Diff(want, rowsOf(t, s, want)); diff != "" {
					t.Errorf("rows changed by the upgrade (-kept +upgraded):\n%s", diff)
				}
				work(t, s)
			})
		}
	}
}

func TestKeptStatementsPrepareOnThisSchema(t *testing.T) {
	t.Parallel()
	for _, dir := range releases(t) {
		var statements map[string]map[string]string
		readJSON(t, filepath.Join(dir, "statements.json"), &statements)
		for _, engine := range engines {
			t.Run(filepath.Base(dir)+"/"+engine, func(t *testing.T) {
				t.Parallel()
				prepares(t, dbtest.Whole(t, engine), statements[engine])
			})
		}
	}
}

// TestStatementsPrepareOnTheNextSchema: those of this build too, on the schema
// that a build with the tag nextmigration makes.
func TestStatementsPrepareOnTheNextSchema(t *testing.T) {
	t.Parallel()
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			files, err := next.After(os.DirFS(filepath.Join(dbtest.Root(t), "schema")))
			if err != nil {
				t.Fatal(err)
			}
			url := dbtest.Empty(t, engine)
			report, err := schema.Migrate(t.Context(), schema.Options{URL: url, FS: files})
			if err != nil || report.Applied[len(report.Applied)-1].Name[4:] != "_next.sql" {
				t.Fatalf("%+v, %v", report, err)
			}
			prepares(t, url, dbtest.Statements(t, engine))
			for _, dir := range releases(t) {
				var statements map[string]map[string]string
				readJSON(t, filepath.Join(dir, "statements.json"), &statements)
				prepares(t, url, statements[engine])
			}
		})
	}
}

func prepares(t *testing.T, url string, statements map[string]string) {
	t.Helper()
	if len(statements) == 0 {
		t.Fatal("no statements")
	}
	db := dbtest.DB(t, dbtest.Open(t, store.Config{URL: url}))
	for name, text := range statements {
		stmt, err := db.PrepareContext(t.Context(), text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		stmt.Close()
	}
}

// work claims a waiting job of the kept database and finishes it; its run opens
// and ends.
func work(t *testing.T, s *store.Store) {
	t.Helper()
	ctx := t.Context()
	owner, err := s.OwnerGetByName(ctx, model.OwnerGetByNameParams{Name: keptOwner})
	if err != nil {
		t.Fatal(err)
	}
	now := dbtest.T0.Add(keptFor)
	err = s.Tx(ctx, func(q model.Querier) error {
		claimed, err := jobs.Claim(ctx, q, now, jobs.ClaimIn{OwnerID: owner.ID, Worker: "after", Kinds: []string{"implement"}, Limit: 1})
		taken := claimed.Jobs
		if err != nil || len(taken) != 1 {
			return fmt.Errorf("claimed %d: %w", len(taken), err)
		}
		done, err := jobs.Finish(ctx, q, now, jobs.FinishIn{
			OwnerID: owner.ID, ID: taken[0].Job.ID, LeaseToken: *taken[0].Job.LeaseToken,
			Action: jobs.Complete, Result: coltype.JSON(`{"upgraded":true}`),
		})
		if err == nil && (done.Job.State != jobs.Succeeded || done.Run.ID != taken[0].RunID) {
			return fmt.Errorf("finished %s as %s by run %s", done.Job.ID, done.Job.State, done.Run.ID)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// restore is the URL of a fresh database with what a release kept.
func restore(t *testing.T, engine, dir string) string {
	t.Helper()
	url := dbtest.Empty(t, engine)
	if engine == store.SQLite {
		path, err := store.SQLitePath(url)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, read(t, filepath.Join(dir, "sqlite.db")), 0o600); err != nil {
			t.Fatal(err)
		}
		return url
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.PgConn().Exec(t.Context(), string(read(t, filepath.Join(dir, "postgres.sql")))).ReadAll(); err != nil {
		t.Fatal(err)
	}
	return url
}

// rowsOf reads the tables and columns that like names, as text, in the order of
// their texts: what both engines, and any later schema, can be compared by.
func rowsOf(t *testing.T, s *store.Store, like map[string][]map[string]any) map[string][]map[string]any {
	t.Helper()
	db := dbtest.DB(t, s)
	out := map[string][]map[string]any{}
	for table, rows := range like {
		var columns []string
		for column := range rows[0] {
			columns = append(columns, column)
		}
		slices.Sort(columns)
		out[table] = tableRows(t, db, s.Engine(), table, columns)
	}
	return out
}

func tableRows(t *testing.T, db *sql.DB, engine, table string, columns []string) []map[string]any {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "select "+selectList(engine, columns)+" from "+table+" order by 1, 2")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := []map[string]any{}
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		out = append(out, named(columns, values))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(out, func(a, b map[string]any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return out
}

// selectList spells each column as text: times as microseconds, booleans as 0
// and 1.
func selectList(engine string, columns []string) string {
	list := make([]string, len(columns))
	for i, column := range columns {
		list[i] = "cast(" + column + " as text)"
		if engine != store.Postgres {
			continue
		}
		if strings.HasSuffix(column, "_at") {
			list[i] = "cast(cast(round(extract(epoch from " + column + ") * 1000000) as bigint) as text)"
			continue
		}
		list[i] = "case when pg_typeof(" + column + ") = 'boolean'::regtype then cast(cast(cast(" + column + " as text) = 'true' as int) as text) else " + list[i] + " end"
	}
	return strings.Join(list, ", ")
}

func named(columns []string, values []sql.NullString) map[string]any {
	row := map[string]any{}
	for i, column := range columns {
		row[column] = nil
		if values[i].Valid {
			row[column] = values[i].String
		}
	}
	return row
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	if err := json.Unmarshal(read(t, path), into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
