package schema

import (
	"bytes"
	"context"
	"database/sql"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib"
)

// step is one migration of a fixture. sqlite "" means the same text.
type step struct{ name, postgres, sqlite string }

func fixture(steps ...step) fstest.MapFS {
	files := fstest.MapFS{}
	for _, s := range steps {
		if s.sqlite == "" {
			s.sqlite = s.postgres
		}
		files["postgres/"+s.name] = migrationFile(s.postgres)
		files["sqlite/"+s.name] = migrationFile(s.sqlite)
	}
	return files
}

// migrationFile wraps plain SQL; text that has its own markers stays as it is.
func migrationFile(up string) *fstest.MapFile {
	if !strings.Contains(up, "migrate:") {
		up = "-- migrate:up\n" + up + ";\n-- migrate:down\n"
	}
	return &fstest.MapFile{Data: []byte(up)}
}

var (
	one   = step{name: "0001_one.sql", postgres: "create table a (id bigint primary key); insert into a values (1)"}
	two   = step{name: "0002_two.sql", postgres: "alter table a add column b bigint null; update a set b = id"}
	three = step{name: "0003_three.sql", postgres: "create table c as select id from a; insert into a values (2, 2)"}
)

// database is an empty one of its own for each test.
type database struct {
	engine string
	url    string
	*sql.DB
}

func each(t *testing.T, fn func(t *testing.T, db database)) {
	t.Run(SQLite, func(t *testing.T) {
		t.Parallel()
		fn(t, sqliteDatabase(t))
	})
	t.Run(Postgres, func(t *testing.T) {
		t.Parallel()
		fn(t, postgresDatabase(t))
	})
}

func sqliteDatabase(t *testing.T) database {
	t.Helper()
	path := filepath.Join(t.TempDir(), "odd ?#% name.db")
	return open(t, SQLite, "sqlite:"+path, "sqlite", FileURI(path, url.Values{"_pragma": {"busy_timeout(10000)"}, "_txlock": {"immediate"}}))
}

func open(t *testing.T, engine, url, driver, dsn string) database {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return database{engine, url, db}
}

// serverURL is the URL of another database of the tests' server.
func serverURL(t *testing.T, name string) string {
	t.Helper()
	raw := os.Getenv("STINT_TEST_POSTGRES")
	if raw == "" {
		t.Fatal("no PostgreSQL for the tests: run `make test`, or set STINT_TEST_POSTGRES")
	}
	scheme, rest, _ := strings.Cut(raw, "://")
	rest, query, _ := strings.Cut(rest, "?")
	server, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + server + "/" + name + "?" + query
}

func admin(t *testing.T, statement string) {
	t.Helper()
	serverURL(t, "") // fails when there is none
	conn, err := pgx.Connect(context.Background(), os.Getenv("STINT_TEST_POSTGRES"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(context.Background(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// options are impatient, so that a test of patience is short.
func (db database) options(steps ...step) Options {
	return Options{
		URL: db.url, FS: fixture(steps...),
		LockTimeout: 200 * time.Millisecond, Attempts: 3, RetryPause: 20 * time.Millisecond,
	}
}

func (db database) migrate(t *testing.T, steps ...step) Report {
	t.Helper()
	report, err := Migrate(t.Context(), db.options(steps...))
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func (db database) exec(t *testing.T, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// text is the first column of the first row.
func (db database) text(t *testing.T, query string) (value string) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

// dump is everything a refusal must leave as it was: tables, columns, versions.
func (db database) dump(t *testing.T) string {
	t.Helper()
	columns := `select table_name || '.' || column_name from information_schema.columns where table_schema = 'public' order by 1`
	if db.engine == SQLite {
		columns = `select coalesce(sql, name) from sqlite_master order by 1`
	}
	dump := db.column(t, columns)
	if strings.Contains(dump, "schema_migrations") {
		dump += db.column(t, "select version || coalesce(checksum, 'null') from schema_migrations order by 1")
	}
	return dump
}

func (db database) column(t *testing.T, query string) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var b strings.Builder
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		b.WriteString(line + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func (db database) versions(t *testing.T) string {
	t.Helper()
	return strings.ReplaceAll(db.column(t, "select version from schema_migrations order by 1"), "\n", " ")
}

// recorder keeps a log and says when a line holding want has come.
type recorder struct {
	mu   sync.Mutex
	text bytes.Buffer
	want string
	seen chan struct{}
}

func newRecorder(want string) *recorder { return &recorder{want: want, seen: make(chan struct{})} }

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	had := strings.Contains(r.text.String(), r.want)
	r.text.Write(p)
	if !had && strings.Contains(r.text.String(), r.want) {
		close(r.seen)
	}
	return len(p), nil
}

func (r *recorder) log() *slog.Logger { return slog.New(slog.NewTextHandler(r, nil)) }

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

func (r *recorder) await(t *testing.T) {
	t.Helper()
	select {
	case <-r.seen:
	case <-time.After(30 * time.Second):
		t.Fatalf("no %q in the log:\n%s", r.want, r)
	}
}

// wantRefusal checks the code and that every name stands in the one line.
func wantRefusal(t *testing.T, err error, code string, names ...string) {
	t.Helper()
	if Code(err) != code {
		t.Fatalf("got %v (code %q), want code %s", err, Code(err), code)
	}
	wantOneLine(t, err)
	for _, name := range names {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%q does not name %s", err, name)
		}
	}
}

func wantOneLine(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	if strings.ContainsAny(err.Error(), "\n\r\t") {
		t.Errorf("more than one line: %q", err)
	}
}
