package backup

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

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
	c, err := check(ctx, o)
	if err != nil {
		return Report{}, fmt.Errorf("%s is refused: %w", o.File, err)
	}
	at, err := look(ctx, o.URL, true)
	if err != nil {
		return Report{}, explain(o, err)
	}
	restore, err := program(ctx, "pg_restore", at.major)
	if err != nil {
		return Report{}, err
	}
	a, r, refusal, err := checkArchive(ctx, o.File, restore, o)
	if err = cmp.Or(err, refusal); err != nil {
		return r, fmt.Errorf("%s is refused: %w", o.File, err)
	}
	r.compared(c)
	if err := free(o, at, a); err != nil {
		return r, err
	}
	if err := fill(ctx, o, at, a); err != nil {
		return r, fmt.Errorf("restore %s: %w", store.Redact(o.URL), schema.Hide(o.URL, a.explain(at, err)))
	}
	return r, nil
}

// explain says what to do about a database that is not there.
func explain(o Options, err error) error {
	if store.NoDatabase(err) {
		return fmt.Errorf("%s does not exist: make it first, empty (create database …)", store.Redact(o.URL))
	}
	return err
}

// explain adds what a server's answer may come from.
func (a archive) explain(at there, err error) error {
	switch state := schema.SQLState(err); {
	case state == "":
	case a.from > at.major:
		return fmt.Errorf("%w; the backup is of PostgreSQL %d, this server %d: an older server may not understand it", err, a.from, at.major)
	case state == "42501" && a.namespace != at.namespace && at.namespace != "":
		return fmt.Errorf("%w; to restore a backup of schema %q into schema %q the role has to own both, if they are there: restore as such a role, or into a schema of the backup's name", err, a.namespace, at.namespace)
	}
	return err
}

// free refuses a schema that has a table of the archive.
func free(o Options, at there, a archive) error {
	taken := slices.DeleteFunc(slices.Sorted(slices.Values(a.tables)), func(name string) bool { return !at.tables[name] })
	if len(taken) > 0 {
		return fmt.Errorf("%s has the tables %s already: restore into a new database, nothing is replaced",
			store.Redact(o.URL), strings.Join(taken, ", "))
	}
	return nil
}

// fill restores in one transaction, with the check of the result in it. A process
// that is killed takes its connection, and so the transaction, with it.
func fill(ctx context.Context, o Options, at there, a archive) error {
	conn, err := connect(ctx, o.URL, true)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		back, target, err := place(ctx, tx, a.namespace, at.namespace)
		if err != nil {
			return err
		}
		if err := a.run(ctx, o, script{conn.PgConn(), at.major}); err != nil {
			return err
		}
		// What the archive sets for its session must not outlive it in a pool.
		if _, err := tx.Exec(ctx, strings.Join(append(back, "reset all"), ";"), pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		if err := a.beginEpoch(ctx, tx, target); err != nil {
			return err
		}
		return a.settle(ctx, tx, target)
	})
}

// place makes the name that the archive gives its schema mean the target, for
// this transaction: back are the statements that give the names back. So nothing
// in the archive is rewritten, whatever it holds. Without a target the archive's
// own schema is made.
func place(ctx context.Context, tx pgx.Tx, from, target string) (back []string, _ string, err error) {
	if target == from {
		return nil, target, nil
	}
	if target == "" {
		return nil, from, create(ctx, tx, from)
	}
	rename := func(from, to string) string {
		return "alter schema " + quoted(from) + " rename to " + quoted(to)
	}
	const away = "stint_restore_away"
	to := []string{rename(target, from)}
	back = []string{rename(from, target)}
	var taken bool
	if err := tx.QueryRow(ctx, "select to_regnamespace(quote_ident($1)) is not null", from).Scan(&taken); err != nil {
		return nil, "", err
	}
	if taken {
		to = append([]string{rename(from, away)}, to...)
		back = append(back, rename(away, from))
	}
	_, err = tx.Exec(ctx, strings.Join(to, ";"), pgx.QueryExecModeSimpleProtocol)
	return back, target, err
}

// create makes the archive's schema where the search_path names none that is
// there, if it names this one. One that is there it does not name.
func create(ctx context.Context, tx pgx.Tx, namespace string) error {
	var path, current string
	var there bool
	err := tx.QueryRow(ctx, "select current_setting('search_path'), to_regnamespace(quote_ident($1)) is not null", namespace).Scan(&path, &there)
	if err == nil && !there {
		if _, err := tx.Exec(ctx, "create schema "+quoted(namespace)); err != nil {
			return err
		}
		err = tx.QueryRow(ctx, "select coalesce(current_schema(), '')").Scan(&current)
	}
	if err == nil && current != namespace {
		err = fmt.Errorf("the search_path of the URL, %s, names no schema that is there: make it first (create schema …)", path)
	}
	return err
}

// run restores. Owners and grants stay behind: the role that restores owns
// everything, and roles of another server may not exist here. The schema itself
// is there already.
func (a archive) run(ctx context.Context, o Options, s script) error {
	f, err := os.Open(a.path)
	if err != nil {
		return err
	}
	defer f.Close()
	part := func(section string) run {
		body := &counted{ctx: ctx, r: io.NewSectionReader(f, 0, a.body)}
		if section == "data" {
			body.o, body.total = o, a.body
		}
		return a.print(body, "--schema="+a.namespace, "--section="+section)
	}
	if err := s.section(ctx, part("pre-data")); err != nil {
		return err
	}
	if err := s.data(ctx, part("data")); err != nil {
		return err
	}
	return s.section(ctx, part("post-data"))
}

// settle compares what was restored with the archive, as a session of the URL
// sees it, and lets the planner know the new tables, which an archive says
// nothing about.
func (a archive) settle(ctx context.Context, tx pgx.Tx, target string) error {
	at, err := lookIn(ctx, tx)
	if err != nil {
		return err
	}
	if at.namespace != target {
		return fmt.Errorf("the tables of schema %q are hidden by those of schema %q: change the search_path of the URL", target, at.namespace)
	}
	for _, table := range a.tables {
		if !at.tables[table] {
			return fmt.Errorf("the table %s is in the backup, and was not restored", table)
		}
		if _, err := tx.Exec(ctx, "analyze "+quoted(target, table)); err != nil {
			return fmt.Errorf("analyze %s: %w", table, err)
		}
	}
	rows, err := tx.Query(ctx, "select version, coalesce(checksum, '') from schema_migrations")
	if err != nil {
		return err
	}
	applied, version, checksum := map[string]string{}, "", ""
	_, err = pgx.ForEachRow(rows, []any{&version, &checksum}, func() error {
		applied[version] = checksum
		return nil
	})
	if err == nil && !maps.Equal(applied, a.applied) {
		err = fmt.Errorf("%d versions of the schema were restored, and the backup has %d", len(applied), len(a.applied))
	}
	return err
}

func quoted(names ...string) string { return pgx.Identifier(names).Sanitize() }
