package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// within is the URL of a schema of a database.
func within(db, schema string) string {
	return db + "&search_path=" + url.PathEscape(quoted(schema))
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// catalogs is every schema, relation, type and function of a database and their
// owners, but for those of the server itself.
func catalogs(t *testing.T, db string) []string {
	t.Helper()
	s := dbtest.Open(t, store.Config{URL: db})
	var all []string
	for _, row := range texts(t, s, `
		select 'schema', nspname::text, nspowner::text, oid::text from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'
		union all select 'relation', relname::text, relowner::text, relnamespace::text from pg_class where oid >= 16384
		union all select 'type', typname::text, typowner::text, typnamespace::text from pg_type where oid >= 16384
		union all select 'function', proname::text, proowner::text, pronamespace::text from pg_proc where oid >= 16384
		union all select 'constraint', conname::text, '', connamespace::text from pg_constraint where oid >= 16384`) {
		if !strings.HasPrefix(row[1], "pg_toast") {
			all = append(all, strings.Join(row, " "))
		}
	}
	slices.Sort(all)
	return all
}

// inSchema is a backup of a database whose tables are in a schema of that name,
// with one row that tells it from others, in a folder of its own.
func inSchema(t *testing.T, name string) (db, file string) {
	t.Helper()
	db, file = dbtest.Fresh(t, store.Postgres), filepath.Join(t.TempDir(), "b")
	dbtest.Plant(t, db, "alter schema public rename to "+quoted(name))
	dbtest.Plant(t, within(db, name), "insert into meta (key, value) values ('which', 'ours')")
	must(t, within(db, name), "backup", "create", file)
	return db, file
}

// ours fails unless the database of the URL is usable and what inSchema saved.
func ours(t *testing.T, url string) {
	t.Helper()
	must(t, url, "migrate", "verify")
	if got := dbtest.Get[string](t, dbtest.Open(t, store.Config{URL: url}), "select value from meta where key = 'which'"); got != "ours" {
		t.Errorf("%s: %q", url, got)
	}
}

// TestBackupTakesASchemaByItsName, letter for letter: beside it stands one that
// the name would match if it were a pattern. Each backup is restored into the
// schema of the next name.
func TestBackupTakesASchemaByItsName(t *testing.T) {
	t.Parallel()
	db, file := inSchema(t, "Stint")
	before := "Stint"
	for i, tt := range []struct{ name, like string }{
		{`My "Schema" a*b.c?d per%cent`, `my "schema" aXXb.cd per%cent`},
		{`$x|y o'brien (a) [b]+{2} back\slash größe-日本^`, "$x"},
		{"stint_restore_away", "stint"},
	} {
		dbtest.Plant(t, db, "drop schema "+quoted(before)+" cascade; create schema "+quoted(tt.name)+
			"; create schema "+quoted(tt.like)+" create table jobs (id integer) create table aside (id integer)")
		must(t, within(db, tt.name), "backup", "restore", file)
		ours(t, within(db, tt.name))
		file = filepath.Join(filepath.Dir(file), fmt.Sprint(i))
		must(t, within(db, tt.name), "backup", "create", file)
		if out := pgRestore(t, "--list", file); strings.Contains(out, "aside") || !strings.Contains(out, "schema_migrations") {
			t.Errorf("the backup of %s holds %s", tt.name, out)
		}
		before = tt.name
	}
}

func TestRestoreGoesIntoTheSchemaOfTheURL(t *testing.T) {
	t.Parallel()
	_, file := inSchema(t, "stint")
	for name, tt := range map[string]struct{ prepare, target string }{
		"the backup's own, not there": {"", "stint"},
		"the backup's own, empty":     {"create schema stint", "stint"},
		"another":                     {`create schema "The other"`, "The other"},
		"another, beside a program in the backup's own": {"create schema other; create schema stint create table meta (key text); insert into stint.meta values ('theirs')", "other"},
		"public, beside a program's table":              {"create table books (id integer)", "public"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := dbtest.Empty(t, store.Postgres)
			dbtest.Plant(t, db, "select 1; "+tt.prepare)
			must(t, within(db, tt.target), "backup", "restore", file)
			ours(t, within(db, tt.target))
			s := dbtest.Open(t, store.Config{URL: db})
			if n := dbtest.Get[int](t, s, "select count(distinct relnamespace) from pg_class where relname in ('jobs', 'jobs_by_state')"); n != 1 {
				t.Errorf("the tables are in %d schemas", n)
			}
			if strings.Contains(tt.prepare, "theirs") {
				if got := dbtest.Get[string](t, s, "select string_agg(key, ' ') from stint.meta"); got != "theirs" {
					t.Errorf("the other program's table holds %s", got)
				}
			}
		})
	}
}

// TestARefusedOrFailedRestoreLeavesNothing of schemas, tables, types and
// functions. The event triggers let a restore fail when its tables are made, when
// their rows are there, and when what is there is not what the backup has.
func TestARefusedOrFailedRestoreLeavesNothing(t *testing.T) {
	t.Parallel()
	_, file := inSchema(t, "stint")
	const trigger = `create function refuse() returns event_trigger language plpgsql as $$ begin raise 'not today'; end $$;
		create event trigger refuse on ddl_command_end when tag in ('%s') execute function refuse()`
	for name, tt := range map[string]struct{ prepare, target, says string }{
		"a schema that is not there":   {"drop schema public", "other", "names no schema that is there"},
		"... beside the backup's own":  {"create schema stint", "other", "names no schema that is there"},
		"a table of the same name":     {"create schema other create table jobs (id integer)", "other", "has the tables jobs already"},
		"a function of the same name":  {"create schema other; create function other.from_us(us bigint) returns timestamptz language sql return now()", "other", "already exists"},
		"a failure before the rows":    {"create schema other; " + fmt.Sprintf(trigger, "CREATE TABLE"), "other", "not today"},
		"a failure after the rows":     {"create schema other; " + fmt.Sprintf(trigger, "CREATE INDEX"), "other", "not today"},
		"after the rows, in a new one": {fmt.Sprintf(trigger, "CREATE INDEX"), "stint", "not today"},
		"a result that is another": {`create schema other;
			create function lose() returns event_trigger language plpgsql as $$ begin delete from stint.schema_migrations; end $$;
			create event trigger lose on ddl_command_end when tag in ('CREATE INDEX') execute function lose()`, "other", "0 versions of the schema were restored"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := dbtest.Empty(t, store.Postgres)
			dbtest.Plant(t, db, tt.prepare)
			before := catalogs(t, db)
			_, stderr, code := command(t, []string{"STINT_DB=" + within(db, tt.target)}, "backup", "restore", file)
			if code != 1 || !strings.Contains(stderr, tt.says) || strings.Count(stderr, "stint: ") != 1 { // a slow machine shows progress too
				t.Errorf("exit %d: %s", code, stderr)
			}
			if after := catalogs(t, db); !slices.Equal(before, after) {
				t.Errorf("before: %q\nafter: %q", before, after)
			}
		})
	}
}

// TestAKilledRestoreLeavesNothing: the kill meets it when the rows are in their
// tables.
func TestAKilledRestoreLeavesNothing(t *testing.T) {
	t.Parallel()
	_, file := inSchema(t, "stint")
	db := dbtest.Empty(t, store.Postgres)
	dbtest.Plant(t, db, `create schema other;
		create function hold() returns event_trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(1); end $$;
		create event trigger hold on ddl_command_end when tag in ('CREATE INDEX') execute function hold()`)
	before := catalogs(t, db)
	tx, err := dbtest.Connect(t, db).Begin()
	if err == nil {
		_, err = tx.Exec("select pg_advisory_xact_lock(1)")
	}
	if err != nil {
		t.Fatal(err)
	}
	p := spawn(t, []string{"PATH=" + os.Getenv("PATH"), "STINT_DB=" + within(db, "other")}, "stint", "backup", "restore", file)
	s := dbtest.Open(t, store.Config{URL: db})
	waiting := func() int {
		return dbtest.Get[int](t, s, "select count(*) from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())")
	}
	apitest.Await(t, "a restore in the middle", func() bool { return waiting() == 2 })
	p.kill()
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	apitest.Await(t, "the end of its transaction", func() bool { return waiting() == 0 })
	if after := catalogs(t, db); !slices.Equal(before, after) {
		t.Errorf("before: %q\nafter: %q", before, after)
	}
	dbtest.Plant(t, db, "drop event trigger hold")
	must(t, within(db, "other"), "backup", "restore", file)
	ours(t, within(db, "other"))
}
