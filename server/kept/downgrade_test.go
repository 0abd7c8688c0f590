package kept

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// TestDowngradeLeavesTheSchemaOfTheRelease runs the files, the newest first, on
// an upgraded database of each release in which the newer build has worked. The
// rows of the release stay; the database can be upgraded again.
func TestDowngradeLeavesTheSchemaOfTheRelease(t *testing.T) {
	t.Parallel()
	for _, back := range waysBack(t) {
		t.Run(back.file, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(dbtest.Root(t), "schema", "testdata", back.to)
			url := restore(t, back.engine, dir)
			upgrade(t, url)
			work(t, dbtest.Open(t, store.Config{URL: url}))
			var want map[string][]map[string]any
			readJSON(t, filepath.Join(dir, "rows.json"), &want)
			worked := rowsOf(t, dbtest.Open(t, store.Config{URL: url}), want)

			for _, later := range slices.Backward(waysBack(t)) {
				if later.engine == back.engine && later.to >= back.to {
					plantMisread(t, url, later.to)
					run(t, url, back.engine, string(read(t, later.path(t))))
				}
			}

			if diff := cmp.Diff(shapeOf(t, restore(t, back.engine, dir), back.engine), shapeOf(t, url, back.engine)); diff != "" {
				t.Errorf("%s does not leave the schema of %s (-release +here):\n%s\n%s", back.file, back.to, diff, back.remedy())
			}
			if diff := cmp.Diff(worked, rowsOf(t, dbtest.Open(t, store.Config{URL: url}), want)); diff != "" {
				t.Errorf("%s changed rows (-before +after):\n%s\n%s", back.file, diff, back.remedy())
			}
			var statements map[string]map[string]string
			readJSON(t, filepath.Join(dir, "statements.json"), &statements)
			prepares(t, url, statements[back.engine])
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

// misread are rows that the newer build writes into older tables, and that the
// build of the release would misread; the way back to it deletes them.
var misread = map[string][]string{
	"0001": {
		`insert into tokens (id, owner_id, name, hash, scopes, created_at, kind)
		select 'tok_session', owner_id, 'browser', 'hash-of-a-session', scopes, created_at, 'session' from tokens limit 1`,
		"insert into meta (key, value) values ('backfill:idem-times', 'done')",
	},
}

func plantMisread(t *testing.T, url, release string) {
	t.Helper()
	s := dbtest.Open(t, store.Config{URL: url})
	for _, insert := range misread[release] {
		dbtest.SQL(t, s, insert)
	}
}

// TestDowngradeRefusesAnotherVersion than the one that a file leads from, older or
// newer, before it changes anything.
func TestDowngradeRefusesAnotherVersion(t *testing.T) {
	t.Parallel()
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			url := restore(t, engine, filepath.Join(dbtest.Root(t), "schema", "testdata", "0007"))
			refusesAnother(t, engine, url, "0007")
			upgrade(t, url)
			all := schema.Expected(engine)
			refusesAnother(t, engine, url, all[len(all)-1])
		})
	}
}

// refusesAnother runs each file that leads from another version than that of the
// database, which has at least the rows of release 0007.
func refusesAnother(t *testing.T, engine, url, version string) {
	t.Helper()
	var like map[string][]map[string]any
	readJSON(t, filepath.Join(dbtest.Root(t), "schema", "testdata", "0007", "rows.json"), &like)
	shape, rows := shapeOf(t, url, engine), rowsOf(t, dbtest.Open(t, store.Config{URL: url}), like)
	for _, back := range waysBack(t) {
		if back.engine != engine || back.from() == version {
			continue
		}
		err := try(t, url, engine, string(read(t, back.path(t))))
		if err == nil || !strings.Contains(err.Error(), "run "+back.from()+"."+engine+".sql first") {
			t.Errorf("%s on version %s: %v", back.file, version, err)
		}
	}
	diff := cmp.Diff(shape, shapeOf(t, url, engine)) + cmp.Diff(rows, rowsOf(t, dbtest.Open(t, store.Config{URL: url}), like))
	if diff != "" {
		t.Errorf("version %s was changed (-before +after):\n%s", version, diff)
	}
}

func run(t *testing.T, url, engine, text string) {
	t.Helper()
	if err := try(t, url, engine, text); err != nil {
		t.Fatal(err)
	}
}

// try hands a text of several statements to the database, as psql and sqlite3 -bail
// do: what is not committed when it ends is undone.
func try(t *testing.T, url, engine, text string) error {
	t.Helper()
	if engine == store.Postgres {
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			return err
		}
		defer conn.Close(t.Context())
		_, err = conn.PgConn().Exec(t.Context(), text).ReadAll()
		return err
	}
	conn, err := dbtest.DB(t, dbtest.Open(t, store.Config{URL: url})).Conn(t.Context())
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.ExecContext(t.Context(), text)
	if err != nil {
		_, _ = conn.ExecContext(t.Context(), "rollback")
	}
	return err
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
