package kept

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// downgrades are docs/downgrade/NNNN.ENGINE.sql: the way back to a release.
func downgrades(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dbtest.Root(t), "docs", "downgrade", "*.sql"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestTheReleaseBeforeHasAWayBack: the newest release that lacks a migration of
// this build.
func TestTheReleaseBeforeHasAWayBack(t *testing.T) {
	t.Parallel()
	known, before := schema.Expected(schema.Postgres), ""
	for _, dir := range releases(t) {
		if version := filepath.Base(dir); version < known[len(known)-1] {
			before = max(before, version)
		}
	}
	files := strings.Join(downgrades(t), " ")
	for _, engine := range engines {
		if name := before + "." + engine + ".sql"; before != "" && !strings.Contains(files, name) {
			t.Errorf("docs/downgrade/%s is missing", name)
		}
	}
}

// TestDowngradeLeavesTheSchemaOfTheRelease runs each of the files, as it is, on
// an upgraded database of that release in which the newer build has worked. The
// rows of the release stay; the database can be upgraded again.
func TestDowngradeLeavesTheSchemaOfTheRelease(t *testing.T) {
	t.Parallel()
	for _, file := range downgrades(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			version, engine, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".sql"), ".")
			dir := filepath.Join(dbtest.Root(t), "schema", "testdata", version)
			url := restore(t, engine, dir)
			upgrade(t, url)
			work(t, dbtest.Open(t, store.Config{URL: url}))
			var want map[string][]map[string]any
			readJSON(t, filepath.Join(dir, "rows.json"), &want)
			worked := rowsOf(t, dbtest.Open(t, store.Config{URL: url}), want)
			useWhatIsNew(t, url)

			run(t, url, engine, string(read(t, file)))

			if diff := cmp.Diff(shapeOf(t, restore(t, engine, dir), engine), shapeOf(t, url, engine)); diff != "" {
				t.Errorf("the schema is not that of the release (-release +here):\n%s", diff)
			}
			if diff := cmp.Diff(worked, rowsOf(t, dbtest.Open(t, store.Config{URL: url}), want)); diff != "" {
				t.Errorf("rows changed (-before +after):\n%s", diff)
			}
			var statements map[string]map[string]string
			readJSON(t, filepath.Join(dir, "statements.json"), &statements)
			prepares(t, url, statements[engine])
			upgrade(t, url)
			work(t, dbtest.Open(t, store.Config{URL: url}))
		})
	}
}

func upgrade(t *testing.T, url string) {
	t.Helper()
	if _, err := schema.Migrate(t.Context(), schema.Options{URL: url}); err != nil {
		t.Fatal(err)
	}
}

// useWhatIsNew leaves what the older build must not find: a session among the
// tokens, and the mark of a work that is to be done again.
func useWhatIsNew(t *testing.T, url string) {
	t.Helper()
	s := dbtest.Open(t, store.Config{URL: url})
	dbtest.SQL(t, s, `insert into tokens (id, owner_id, name, hash, scopes, created_at, kind)
		select 'tok_session', owner_id, 'browser', 'hash-of-a-session', scopes, created_at, 'session' from tokens`)
	dbtest.SQL(t, s, "insert into meta (key, value) values ('backfill:idem-times', 'done')")
}

// run hands a text of several statements to the database, as psql and sqlite3 do.
func run(t *testing.T, url, engine, text string) {
	t.Helper()
	var err error
	if engine == store.SQLite {
		_, err = dbtest.DB(t, dbtest.Open(t, store.Config{URL: url})).ExecContext(t.Context(), text)
	} else {
		var conn *pgx.Conn
		if conn, err = pgx.Connect(t.Context(), url); err == nil {
			defer conn.Close(t.Context())
			_, err = conn.PgConn().Exec(t.Context(), text).ReadAll()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// shapes are the queries that say all of a schema, a line a row; columns by their
// order, since a dropped one leaves a gap in their numbers.
var shapes = map[string][]string{
	store.SQLite: {"select type || ' ' || name || ' ' || coalesce(sql, '') from sqlite_schema where name not like 'sqlite_stat%' order by 1"},
	store.Postgres: {
		`select c.relname || '.' || a.attname || ' ' || row_number() over (partition by c.relname order by a.attnum) || ' ' ||
			format_type(a.atttypid, a.atttypmod) || ' not null ' || a.attnotnull || ' ' || coalesce(l.collname, '') || ' ' ||
			coalesce(pg_get_expr(d.adbin, d.adrelid), '')
		from pg_class c
		join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
		left join pg_collation l on l.oid = a.attcollation
		left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v') order by c.relname, a.attnum`,
		`select relname || ' ' || relkind::text || ' ' || coalesce(array_to_string(reloptions, ','), '') from pg_class
		where relnamespace = 'public'::regnamespace order by 1`,
		`select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) from pg_constraint
		where connamespace = 'public'::regnamespace order by 1`,
		"select indexdef from pg_indexes where schemaname = 'public' order by 1",
		"select pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace order by 1",
	},
}

func shapeOf(t *testing.T, url, engine string) string {
	t.Helper()
	db := dbtest.DB(t, dbtest.Open(t, store.Config{URL: url}))
	var b strings.Builder
	for _, query := range append(shapes[engine], "select version || checksum from schema_migrations order by 1") {
		rows, err := db.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		writeLines(t, &b, rows)
	}
	return b.String()
}

func writeLines(t *testing.T, b *strings.Builder, rows *sql.Rows) {
	t.Helper()
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(b, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}
