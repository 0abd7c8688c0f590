package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/store"
)

func createPostgres(ctx context.Context, o Options) (Report, error) {
	if err := vacant(o.File, "a backup replaces nothing, choose another name"); err != nil {
		return Report{}, err
	}
	versions, err := reach(ctx, o)
	if err != nil {
		return Report{}, err
	}
	if _, err := reportOf(store.Postgres, o, versions); err != nil {
		return Report{}, fmt.Errorf("back up %s: %w", store.Redact(o.URL), err)
	}
	at, err := look(ctx, o.URL, false)
	if err != nil {
		return Report{}, err
	}
	dump, err := program(ctx, "pg_dump", at.major)
	if err != nil {
		return Report{}, err
	}
	restore, err := program(ctx, "pg_restore", dump.major)
	if err != nil {
		return Report{}, err
	}
	p, err := newPartial(o.File)
	if err != nil {
		return Report{}, fmt.Errorf("make the backup: %w", err)
	}
	defer p.discard()
	args := []string{"--format=custom", "--schema=" + pattern(at.namespace), "--lock-wait-timeout=30s"}
	if err := dumpTo(ctx, p.path, run{path: dump.path, url: o.URL, args: args}, o); err != nil {
		return Report{}, fmt.Errorf("back up %s: %w", store.Redact(o.URL), err)
	}
	_, r, _, err := checkArchive(ctx, p.path, restore, o) // whatever versions: a newer build's are worth keeping
	if err != nil {
		return r, fmt.Errorf("check the backup: %w", err)
	}
	dump.note(&r)
	return p.finish(ctx, r)
}

// pattern is what pg_dump takes for the schema of just this name: within quotes
// no character of a pattern means anything but itself.
func pattern(namespace string) string {
	return `"` + strings.ReplaceAll(namespace, `"`, `""`) + `"`
}

// dumpTo runs pg_dump into a file through this process: one that is killed ends
// pg_dump too, and a full disk is this process's to tell.
func dumpTo(ctx context.Context, path string, r run, o Options) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := &written{w: f, o: o}
	if err := r.to(ctx, w); w.err == nil {
		return err
	}
	return w.err
}

// written counts, and remembers why it could not write.
type written struct {
	w    io.Writer
	o    Options
	done int64
	err  error
}

func (w *written) Write(b []byte) (int, error) {
	n, err := w.w.Write(b)
	w.done += int64(n)
	w.o.progress(w.done, 0)
	w.err = err
	return n, err
}

// there is what has to be known of a PostgreSQL before its programs are run.
type there struct {
	major     int
	namespace string          // that our tables are in, or would be made in; "" if there is none
	tables    map[string]bool // of that namespace
}

const lookWait = 10 * time.Second

// look connects, to fill a database only to one that can be filled.
func look(ctx context.Context, raw string, fill bool) (at there, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookWait)
	defer cancel()
	conn, err := connect(ctx, raw, fill)
	if err != nil {
		return at, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return lookIn(ctx, conn)
}

// asker is a connection or a transaction.
type asker interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
	Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
}

func lookIn(ctx context.Context, q asker) (at there, err error) {
	err = q.QueryRow(ctx, `select current_setting('server_version_num')::int / 10000,
		coalesce((select n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace
			where c.oid = to_regclass('schema_migrations')), current_schema(), '')`).Scan(&at.major, &at.namespace)
	if err != nil {
		return at, err
	}
	rows, err := q.Query(ctx, `select relname::text from pg_class where relnamespace = to_regnamespace(quote_ident($1)) and relkind in ('r', 'p', 'v', 'm', 'f')`, at.namespace)
	if err != nil {
		return at, err
	}
	at.tables = map[string]bool{}
	var name string
	_, err = pgx.ForEachRow(rows, []any{&name}, func() error {
		at.tables[name] = true
		return nil
	})
	return at, err
}

// connect opens one plain connection. One that writes has to lead to a UTF8
// database that takes writes; a backup may come from any.
func connect(ctx context.Context, raw string, writes bool) (*pgx.Conn, error) {
	config, err := schema.PoolConfig(raw)
	if err != nil {
		return nil, err
	}
	if writes {
		schema.RequireUTF8(config.ConnConfig)
		schema.RequireWrites(config.ConnConfig, raw)
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	err = schema.ConnectError(err)
	if err != nil && store.Away(err) {
		return nil, fmt.Errorf("%w: %w", ErrAway, schema.Hide(raw, err))
	}
	return conn, err
}
