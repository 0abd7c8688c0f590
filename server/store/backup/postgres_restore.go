package backup

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/store"
)

func restorePostgres(ctx context.Context, o Options) (Report, error) {
	if err := begins(o.File, pgDumpMagic); err != nil {
		return Report{}, err
	}
	if o.Force {
		return Report{}, fmt.Errorf("--force is for SQLite files: restore into a new database (create database …) and point the server at it")
	}
	at, err := look(ctx, o.URL, true)
	if err != nil {
		return Report{}, explain(o, err)
	}
	r, refusal, err := checkArchive(ctx, o.File, at.major, o)
	if err = cmp.Or(err, refusal); err != nil {
		return r, fmt.Errorf("%s is refused: %w", o.File, err)
	}
	if err := free(ctx, o, at); err != nil {
		return r, err
	}
	if err := fill(ctx, o, at); err != nil {
		return r, fmt.Errorf("restore %s: %w", store.Redact(o.URL), err)
	}
	return r, verify(ctx, o, r)
}

// explain says what to do about a database that is not there.
func explain(o Options, err error) error {
	if store.NoDatabase(err) {
		return fmt.Errorf("%s does not exist: make it first, empty (create database …)", store.Redact(o.URL))
	}
	return err
}

// free refuses a database that has a table of the archive.
func free(ctx context.Context, o Options, at there) error {
	names, err := tablesOf(ctx, o.File, at.major)
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !at.tables[name] })
	if len(names) > 0 {
		return fmt.Errorf("%s has the tables %s already: restore into a new database, nothing is replaced",
			store.Redact(o.URL), strings.Join(names, ", "))
	}
	return nil
}

// fill restores in one transaction. Owners and grants stay behind: the role that
// restores owns everything, and roles of another server may not exist here.
func fill(ctx context.Context, o Options, at there) error {
	restore, err := program(ctx, "pg_restore", at.major)
	if err != nil {
		return err
	}
	f, err := os.Open(o.File)
	if err != nil {
		return err
	}
	defer f.Close()
	args := []string{"--single-transaction", "--exit-on-error", "--no-owner", "--no-acl"}
	if at.namespace == "public" {
		args = append(args, "--schema=public") // every database has it: the archive's own create schema would fail
	}
	in := &counted{ctx: ctx, r: f, o: o, total: sizeOf(o.File)}
	return run{path: restore, url: o.URL, args: args, in: in}.do(ctx)
}

// verify reads the versions back and lets the planner know the new tables, which
// an archive says nothing about.
func verify(ctx context.Context, o Options, r Report) error {
	versions, err := reach(ctx, o)
	if err != nil {
		return fmt.Errorf("read the restored database: %w", err)
	}
	got, err := reportOf(store.Postgres, o, versions)
	if err != nil || got.Schema != r.Schema {
		return fmt.Errorf("the restored database has schema %q, the backup %q: %v", got.Schema, r.Schema, err)
	}
	conn, err := connect(ctx, o.URL, true)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "analyze"); err != nil {
		return fmt.Errorf("analyze the restored database: %w", schema.Hide(o.URL, err))
	}
	return nil
}
