package schema

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"time"

	"github.com/amacneil/dbmate/v2/pkg/dbmate"
)

// guard runs fn while the lock is alive. Losing the lock cancels fn's context:
// from then on another process may be migrating.
func guard(ctx context.Context, l lock, fn func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for wait(ctx, 500*time.Millisecond) == nil {
			if err := l.alive(ctx); err != nil && ctx.Err() == nil {
				cancel(err)
			}
		}
	}()
	err := fn(ctx)
	cause := context.Cause(ctx)
	cancel(nil)
	<-done
	if err != nil && cause != nil {
		return cause
	}
	return err
}

// wait returns early, with an error, when ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// apply applies one migration. While others hold what it needs it gives way
// between attempts, so that work queued up behind it goes on.
func (s *session) apply(ctx context.Context, l lock, m migration) error {
	for attempt := 1; ; attempt++ {
		err := s.applyOnce(ctx, l, m)
		if err == nil || ctx.Err() != nil || !busy(err) {
			return err
		}
		if attempt == s.Attempts {
			return refuse(CodeBusy, []string{m.name}, "migration %s could not get its tables in %d attempts of %s: "+
				"end the long transactions that use them and start again (%v)", m.name, attempt, s.LockTimeout, err)
		}
		pause := time.Duration(attempt) * s.RetryPause
		s.Log.Warn("migration waits for a table that others use", "name", m.name, "attempt", attempt, "attempts", s.Attempts, "pause", pause.String())
		if err := wait(ctx, pause); err != nil {
			return err
		}
	}
}

func (s *session) applyOnce(ctx context.Context, l lock, m migration) error {
	a := &attempt{session: s, ctx: ctx, lock: l, migration: m}
	if !m.transactional() {
		built, err := s.eng.prepare(ctx, m.index)
		if err != nil {
			return fmt.Errorf("prepare %s: %w", m.name, err)
		}
		if built {
			return a.record()
		}
	}
	err := a.run()
	if err != nil && !m.transactional() && ctx.Err() == nil {
		// A failed build leaves an invalid index that slows every write.
		_, drop := s.eng.prepare(ctx, m.index)
		err = errors.Join(err, drop)
	}
	return err
}

// attempt is one run of dbmate over one file. It is dbmate's log writer as
// well: the writer is the only thing dbmate hands to a driver besides its URL,
// so that is how the driver finds its way back to here.
type attempt struct {
	*session
	ctx       context.Context
	lock      lock
	migration migration
	err       error // the first error, which dbmate hides behind a failed rollback
}

// Write drops dbmate's own log: it says "Applied" of a failed migration too.
func (a *attempt) Write(p []byte) (int, error) { return len(p), nil }

func (a *attempt) run() error {
	db := dbmate.New(&url.URL{Scheme: driverName})
	db.AutoDumpSchema = false
	db.FS = oneFile{a.FS, a.migration.name}
	db.MigrationsDir = []string{a.at.engine}
	db.Log = a
	err := db.Migrate()
	if a.err != nil {
		err = a.err
	}
	if err != nil {
		return fmt.Errorf("apply %s: %w", a.migration.name, err)
	}
	return nil
}

// record notes a version whose work is already done.
func (a *attempt) record() error {
	db, err := a.eng.open(a.ctx, true)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := createVersions(a.ctx, db); err != nil {
		return err
	}
	return insertVersion(db, a.migration)
}

// oneFile shows a single file of each folder.
type oneFile struct {
	fs.FS
	name string
}

func (o oneFile) ReadDir(dir string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(o.FS, dir)
	for _, e := range entries {
		if e.Name() == o.name {
			return []fs.DirEntry{e}, err
		}
	}
	return nil, err
}
