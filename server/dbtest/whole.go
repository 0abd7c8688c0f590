package dbtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// idle are the whole databases of this process that no test uses.
var idle struct {
	sync.Mutex
	names []string
	shape string // of their catalogs
}

// errStatistics tells that somebody, as autovacuum does, took statistics, which
// outlive the rows and would change the plans of the next test.
var errStatistics = errors.New("the database has statistics")

// takeWhole takes an idle database, or makes one. When the test ends, the
// database is emptied and idle again.
func takeWhole(t *testing.T) string {
	t.Helper()
	admin := server(t)
	name := must(t)(fetchWhole(admin))
	url := database(admin, name)
	t.Cleanup(func() {
		err := within(url, empty)
		if err == nil {
			idle.Lock()
			defer idle.Unlock()
			idle.names = append(idle.names, name)
			return
		}
		if !errors.Is(err, errStatistics) {
			t.Error(err)
		}
		if err := drop(admin, name); err != nil {
			t.Error(err)
		}
	})
	return url
}

func fetchWhole(admin string) (string, error) {
	idle.Lock()
	defer idle.Unlock()
	if last := len(idle.names) - 1; last >= 0 {
		name := idle.names[last]
		idle.names = idle.names[:last]
		return name, nil
	}
	template, err := postgresTemplate(admin)
	if err != nil {
		return "", err
	}
	name, err := create(admin, template)
	if err != nil || idle.shape != "" {
		return name, err
	}
	return name, within(database(admin, name), func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, shape).Scan(&idle.shape)
	})
}

// empty deletes all rows of a test, whose sessions may still be ending.
func empty(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `select pg_terminate_backend(pid) from pg_stat_activity
		where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`)
	if err != nil {
		return err
	}
	if err := unchanged(ctx, conn); err != nil {
		return err
	}
	var statistics bool
	err = conn.QueryRow(ctx, "select exists (select from pg_stats where schemaname = 'public')").Scan(&statistics)
	if err != nil {
		return err
	}
	if statistics {
		return errStatistics
	}
	statement, err := emptying(ctx, conn)
	if err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("empty a whole database: %w", err)
	}
	return nil
}

// unchanged refuses a database that is not what the next test expects.
func unchanged(ctx context.Context, conn *pgx.Conn) error {
	var now string
	if err := conn.QueryRow(ctx, shape).Scan(&now); err != nil {
		return err
	}
	idle.Lock()
	defer idle.Unlock()
	if now != idle.shape {
		return fmt.Errorf("the test changed the schema or the settings of its database: it needs dbtest.Fresh")
	}
	return nil
}

// emptying is the statement that empties this database. Deleting costs next to
// nothing and truncating about 100 ms, a file per table and index; but the rows
// of a large test would stay behind as dead ones. The deletes are one statement,
// so that foreign keys are checked when all of them are done.
func emptying(ctx context.Context, conn *pgx.Conn) (statement string, err error) {
	err = conn.QueryRow(ctx, `
with tables as (
    select c.oid, format('public.%I', c.relname) as name
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> 'schema_migrations'
)
select case when sum(pg_relation_size(oid)) > 1048576
    then 'truncate ' || string_agg(name, ', ')
    else 'with ' || string_agg(format('d%s as (delete from %s)', oid, name), ', ') || ' select 1' end
from tables`).Scan(&statement)
	return statement, err
}

// shape is a digest of what a test must leave as it is.
const shape = `
select md5(string_agg(line, '/' order by line)) from (
    select concat_ws(' ', 'class', oid, relname, relnatts, reloptions) as line from pg_class where oid >= 16384
    union all
    select concat_ws(' ', 'column', attrelid, attname, atttypid, attnotnull) from pg_attribute where attrelid >= 16384
    union all
    select concat_ws(' ', 'index', indexrelid, indisvalid) from pg_index where indexrelid >= 16384
    union all
    select concat_ws(' ', 'constraint', oid, convalidated) from pg_constraint where oid >= 16384
    union all
    select concat_ws(' ', 'trigger', oid, tgenabled) from pg_trigger where oid >= 16384
    union all
    select concat_ws(' ', 'setting', setrole, setconfig) from pg_db_role_setting
    where setdatabase = (select oid from pg_database where datname = current_database())
    union all
    select concat_ws(' ', 'version', m) from schema_migrations m
) lines`
