package dbtest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/store"
)

const serverVariable = "STINT_TEST_POSTGRES"

// server is the URL of the PostgreSQL server of the tests.
func server(t *testing.T) string {
	t.Helper()
	raw := os.Getenv(serverVariable)
	if raw == "" {
		t.Fatal("no PostgreSQL for the tests: run `make test`, or set " + serverVariable)
	}
	return raw
}

// connect opens a database by its store URL with database/sql.
func connect(raw string) (*sql.DB, error) {
	path, lite := strings.CutPrefix(raw, "sqlite:")
	if !lite {
		return sql.Open("pgx", raw)
	}
	file := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{
		"mode":    {"rw"},
		"_txlock": {"immediate"},
		"_pragma": {"busy_timeout(10000)", "foreign_keys(1)"},
	}.Encode()}
	return sql.Open("sqlite", file.String())
}

func migrate(ctx context.Context, raw string) error {
	_, err := schema.Migrate(ctx, schema.Options{URL: raw})
	return err
}

// sqliteTemplate is the bytes of a migrated, empty database.
var sqliteTemplate = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "stint-template-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "template.db")
	if err := migrate(context.Background(), "sqlite:"+path); err != nil {
		return nil, err
	}
	if err := settle(path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// settle writes the log into the file, so that the file is all there is.
func settle(path string) error {
	db, err := connect("sqlite:" + path)
	if err != nil {
		return err
	}
	_, err = db.Exec("pragma wal_checkpoint(truncate)")
	return errors.Join(err, db.Close())
}

func sqliteURL(t *testing.T) string {
	t.Helper()
	template, err := sqliteTemplate()
	if err != nil {
		t.Fatalf("migrate the template: %v", err)
	}
	path := filepath.Join(t.TempDir(), "stint.db")
	if err := os.WriteFile(path, template, 0o600); err != nil {
		t.Fatal(err)
	}
	return "sqlite:" + path
}

func postgresURL(t *testing.T) string {
	t.Helper()
	admin := server(t)
	template, err := postgresTemplate(admin)
	if err != nil {
		t.Fatalf("migrate the template: %v", err)
	}
	return createDatabase(t, template)
}

// templateLock is held while the template is made: test packages run at once.
const templateLock = 0x7374696e74 // "stint"

var (
	templateMu   sync.Mutex
	templateName string
)

// postgresTemplate is the name of a migrated database that is never connected
// to again. It is made under another name: a maker that dies leaves no half.
func postgresTemplate(admin string) (string, error) {
	templateMu.Lock()
	defer templateMu.Unlock()
	if templateName != "" {
		return templateName, nil
	}
	sum, err := schemaSum()
	if err != nil {
		return "", err
	}
	name := "stint_template_" + sum[:16]
	err = within(admin, func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, "select pg_advisory_lock($1)", int64(templateLock)); err != nil {
			return err
		}
		var there bool
		err := conn.QueryRow(ctx, "select exists (select from pg_database where datname = $1)", name).Scan(&there)
		if err != nil || there {
			return err
		}
		return makeTemplate(ctx, conn, admin, name)
	})
	if err == nil {
		templateName = name
	}
	return name, err
}

func makeTemplate(ctx context.Context, conn *pgx.Conn, admin, name string) error {
	raw := name + "_raw"
	for _, statement := range []string{
		"drop database if exists " + raw + " with (force)",
		"create database " + raw + " template template0",
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	if err := migrate(ctx, database(admin, raw)); err != nil {
		return err
	}
	_, err := conn.Exec(ctx, "alter database "+raw+" rename to "+name)
	return err
}

// createDatabase makes a database that is dropped when the test ends.
func createDatabase(t *testing.T, template string) string {
	t.Helper()
	admin := server(t)
	name := "stint_test_" + strings.ToLower(rand.Text())
	run := func(statement string) {
		err := within(admin, func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, statement)
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
	run("create database " + name + " template " + template)
	if t.Failed() {
		t.FailNow()
	}
	t.Cleanup(func() { run("drop database if exists " + name + " with (force)") })
	return database(admin, name)
}

// within runs fn on a connection of its own.
func within(admin string, fn func(ctx context.Context, conn *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", store.Redact(admin), err)
	}
	defer conn.Close(ctx)
	return fn(ctx, conn)
}

// database is the URL of another database of the same server.
func database(admin, name string) string {
	u, err := url.Parse(admin)
	if err != nil {
		panic(serverVariable + " is not a URL")
	}
	u.Path = "/" + name
	return u.String()
}

// schemaSum names the schema that the migrations of this tree make.
func schemaSum() (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(root, "schema", "postgres", "*.sql"))
	if err != nil || len(files) == 0 {
		return "", fmt.Errorf("no migrations in %s: %w", root, err)
	}
	sum := sha256.New()
	fmt.Fprintln(sum, schema.Expected(schema.Postgres)) // one more with the tag nextmigration
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s", filepath.Base(file), len(text), text)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// moduleRoot is the folder of go.mod: go test runs in the package's folder.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, statErr := os.Stat(filepath.Join(dir, "go.mod")); statErr == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			err = errors.New("no go.mod above the working directory")
		}
	}
	return "", err
}
