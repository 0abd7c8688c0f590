// Package backup writes a database into one file and makes a database of such a
// file again. It stands within the store because on SQLite it works through the
// driver; on PostgreSQL it runs pg_dump and pg_restore.
//
// A file appears under its name only whole, checked and on disk: it is written
// into a folder beside that and put in place last. A process that is killed leaves
// at most that folder, .NAME.*.partial, which the next one for NAME removes.
package backup

import (
	"context"
	"errors"
	"fmt"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/store"
)

// Options say what to back up or restore.
type Options struct {
	URL  string // sqlite:PATH or postgres://…
	File string // the backup
	// Force lets a restore replace an SQLite database that nobody has open.
	Force bool
	// Progress hears now and then how many bytes are done; total is 0 while
	// nobody knows it. It may be nil.
	Progress func(done, total int64)
}

func (o Options) progress(done, total int64) {
	if o.Progress != nil {
		o.Progress(done, total)
	}
}

// Report is what was done.
type Report struct {
	Engine string `json:"engine"`
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"`
	// Schema is the newest version that the file holds; Pending are those of
	// this build that it lacks, which the next start applies.
	Schema  string   `json:"schema"`
	Pending []string `json:"pending"`
	// SHA256 is the checksum in the file; null if a release before made it.
	SHA256   *string  `json:"sha256"`
	Warnings []string `json:"warnings"`
}

// warn notes what a person should know of a backup that was made or restored.
func (r *Report) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// compared notes what the file was compared with.
func (r *Report) compared(c checksum) {
	if c.sum == "" {
		r.warn("%s has no checksum, as those of releases before: what its bytes were is not known", r.File)
		return
	}
	r.SHA256 = &c.sum
}

// ErrAway wraps what went wrong before the database answered: the same call may
// succeed later.
var ErrAway = errors.New("the database cannot be reached")

// Create writes the database as it stands at one instant into a new file. The
// server may run, and others may write meanwhile.
func Create(ctx context.Context, o Options) (Report, error) {
	engine, err := store.EngineOf(o.URL)
	if err != nil {
		return Report{}, err
	}
	if engine == store.SQLite {
		return createSQLite(ctx, o)
	}
	return createPostgres(ctx, o)
}

// Restore makes a database of a file. Nothing is put in place before the file
// has passed every check; on PostgreSQL all of it is one transaction.
func Restore(ctx context.Context, o Options) (Report, error) {
	engine, err := store.EngineOf(o.URL)
	if err != nil {
		return Report{}, err
	}
	if engine == store.SQLite {
		return restoreSQLite(ctx, o)
	}
	return restorePostgres(ctx, o)
}

// reportOf reads what the versions of a file say of it.
func reportOf(engine string, o Options, versions []schema.Version) (Report, error) {
	r := Report{Engine: engine, File: o.File, Pending: []string{}, Warnings: []string{}}
	for _, v := range versions {
		switch v.State {
		case schema.StatePending, schema.StateOutOfOrder:
			r.Pending = append(r.Pending, v.Version)
		default:
			r.Schema = v.Version
		}
	}
	if r.Schema == "" {
		return r, errors.New("it holds no Stint database: it has no schema version")
	}
	return r, nil
}

// reach reads the versions of a database that has to be there.
func reach(ctx context.Context, o Options) ([]schema.Version, error) {
	versions, err := schema.Status(ctx, schema.Options{URL: o.URL})
	if err != nil && store.Away(err) {
		return nil, fmt.Errorf("%w: %w", ErrAway, err)
	}
	return versions, err
}
