package dbtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/stint-run/stint/schema"
)

// templateLock is held while the template is made: test packages run at once.
const templateLock = 0x7374696e74 // "stint"

var (
	templateMu   sync.Mutex
	templateName string
)

func migrate(ctx context.Context, raw string) error {
	_, err := schema.Migrate(ctx, schema.Options{URL: raw})
	return err
}

// postgresTemplate is the name of a migrated database. Nobody connects to it, so
// it can be copied. It is migrated under another name first: a process that dies
// leaves no half-made template.
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
	if err != nil {
		return "", fmt.Errorf("migrate the template: %w", err)
	}
	templateName = name
	return name, nil
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
