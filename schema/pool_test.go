package schema

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/stint-run/stint/server/dbtest/dbname"
)

// idle are the PostgreSQL databases of this process that no test uses: to make
// and drop one costs ten times what it costs to empty one of its schemas.
var idle struct {
	sync.Mutex
	names []string
}

// postgresDatabase is one without any table, which the test may fill. What it
// sets for the database as a whole needs a createdDatabase.
func postgresDatabase(t *testing.T) database {
	t.Helper()
	name := takeIdle()
	if name == "" {
		name = freeName(t)
		admin(t, "create database "+name+" template template0")
	}
	t.Cleanup(func() {
		emptied(t, name)
		idle.Lock()
		defer idle.Unlock()
		idle.names = append(idle.names, name)
	})
	return openPostgres(t, name)
}

// createdDatabase is made for the test and dropped after it.
func createdDatabase(t *testing.T) database {
	t.Helper()
	name := databaseName(t)
	admin(t, "create database "+name+" template template0")
	return openPostgres(t, name)
}

func openPostgres(t *testing.T, name string) database {
	t.Helper()
	url := serverURL(t, name)
	return open(t, Postgres, url, "pgx", url)
}

// databaseName is free, and dropped after the test with whoever still uses it.
func databaseName(t *testing.T) string {
	t.Helper()
	name := freeName(t)
	t.Cleanup(func() { admin(t, "drop database if exists "+name+" with (force)") })
	return name
}

func freeName(t *testing.T) string {
	t.Helper()
	serverURL(t, "") // fails when there is none
	name, err := dbname.Next(os.Getenv("STINT_TEST_POSTGRES"))
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func takeIdle() string {
	idle.Lock()
	defer idle.Unlock()
	last := len(idle.names) - 1
	if last < 0 {
		return ""
	}
	name := idle.names[last]
	idle.names = idle.names[:last]
	return name
}

// emptying drops all schemas, and makes public as template0 has it.
const emptying = `
select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid();
do $$ declare name text; begin
    for name in select nspname from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema' loop
        execute format('drop schema %I cascade', name);
    end loop;
end $$;
create schema public;
grant usage on schema public to public`

func emptied(t *testing.T, name string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, serverURL(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.PgConn().Exec(ctx, emptying).ReadAll(); err != nil {
		t.Fatalf("empty %s: %v", name, err)
	}
}

// dropIdle ends the process's databases.
func dropIdle() error {
	if len(idle.names) == 0 {
		return nil
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, os.Getenv("STINT_TEST_POSTGRES"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, name := range idle.names {
		if _, err := conn.Exec(ctx, "drop database if exists "+name+" with (force)"); err != nil {
			return err
		}
	}
	return nil
}
