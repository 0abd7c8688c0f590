package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Report says what a call of [Migrate] did.
type Report struct {
	Engine  string
	Applied []Applied // in order; empty when there was nothing to do
	Adopted []string  // files whose checksum was written for the first time
	Pending []string  // files left alone, in mode off
}

// Applied is one migration this call applied.
type Applied struct {
	Version string
	Name    string
	Took    time.Duration
}

// Step is a pending migration as it would run.
type Step struct {
	Version     string
	Name        string
	SQL         string // the up part
	Transaction bool   // false for the building of an index beside running work
}

// Migrate brings the database to the schema of this build, or, by o.Mode,
// only makes sure that it may be used. Several processes may call it at once:
// one works, the others wait and find nothing left to do. Canceling ctx stops
// it between or inside migrations; each is applied as a whole or not at all,
// and the next call continues.
//
// Errors are one line and hold no secret. An [Error] is a refusal with a code.
func Migrate(ctx context.Context, o Options) (Report, error) {
	s, err := newSession(o)
	if err != nil {
		return Report{}, err
	}
	report, err := s.migrate(ctx)
	return report, s.explain("migrate", err)
}

// Verify fails if anything is pending, or wrong. It changes nothing.
func Verify(ctx context.Context, o Options) error {
	o.Mode = VerifyOnly
	s, err := newSession(o)
	if err != nil {
		return err
	}
	_, err = s.migrate(ctx)
	return s.explain("verify", err)
}

// RefuseForeign fails if the database holds another program's tables and no
// versions of ours. It changes nothing.
func RefuseForeign(ctx context.Context, o Options) error {
	o.Mode = Off
	s, err := newSession(o)
	if err != nil {
		return err
	}
	st, err := s.read(ctx)
	if err == nil {
		err = st.refuseForeign()
	}
	return s.explain("open", err)
}

// Status lists every version, whether it may be used or not, in order.
// A database that does not exist yet is an error on PostgreSQL; on SQLite all
// is pending. Where no server takes writes, a standby may answer.
func Status(ctx context.Context, o Options) ([]Version, error) {
	o.Mode = Off
	s, err := newSession(o)
	if err != nil {
		return nil, err
	}
	st, err := s.read(ctx)
	return st.versions(), s.explain("read versions of", err)
}

// Check fails by what recorded versions do not show: an index that is not valid,
// with the code [CodeBadIndex]. It changes nothing.
func Check(ctx context.Context, o Options) error {
	o.Mode = Off
	s, err := newSession(o)
	if err != nil {
		return err
	}
	return s.explain("check", s.check(ctx))
}

// Plan returns what Migrate would apply, in order. It changes nothing.
func Plan(ctx context.Context, o Options) ([]Step, error) {
	o.Mode = Off
	s, err := newSession(o)
	if err != nil {
		return nil, err
	}
	st, err := s.readUsable(ctx)
	if err != nil {
		return nil, s.explain("plan", err)
	}
	var steps []Step
	for _, m := range st.pending() {
		_, body, _ := strings.Cut(m.up, "\n")
		steps = append(steps, Step{m.version, m.name, strings.TrimSpace(body), m.transactional()})
	}
	return steps, nil
}

// engine is what differs between the databases. Every handle and statement is
// bound to the context that it was asked with.
type engine interface {
	open(ctx context.Context, write bool) (*sql.DB, error)
	// lock waits until no other process migrates this database, and calls
	// waiting now and then while it does.
	lock(ctx context.Context, waiting func(since time.Duration)) (lock, error)
	// prepare clears the way for building an index concurrently. built says
	// that the index already stands, left by a process that was killed before
	// it could record it.
	prepare(ctx context.Context, index concurrentIndex) (built bool, err error)
	// tables are what stands where stint's tables would: up to a few more than a
	// refusal names.
	tables(ctx context.Context, db Reader) ([]string, error)
	// check looks for damage that recorded versions do not show.
	check(ctx context.Context, db Reader) error
}

// lock is held until released or until its connection is lost.
type lock interface {
	alive(ctx context.Context) error
	release()
}

// errNoDatabase: there is nothing to read yet.
var errNoDatabase = errors.New("the database does not exist")

// session is one call of this package.
type session struct {
	Options
	at    location
	eng   engine
	known []migration
}

func newSession(o Options) (*session, error) {
	at, err := locate(o.URL)
	if err != nil {
		return nil, err
	}
	s := &session{Options: o.withDefaults(), at: at}
	if _, err := ParseMode(string(s.Mode)); err != nil {
		return nil, err
	}
	if at.engine == SQLite {
		s.eng = sqliteEngine{path: at.path, wait: s.LockTimeout}
	} else if s.eng, err = newPostgres(at, s.Options); err != nil {
		return nil, err
	}
	if o.FS == nil {
		s.known, err = own(at.engine)
	} else {
		s.known, err = load(o.FS, at.engine)
	}
	return s, err
}

// explain puts an error on one line without secrets and names the database.
func (s *session) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	switch {
	case noRights(err):
		err = fmt.Errorf("%w: no right to do this; migrate as the owner of the database", err)
	case SQLState(err) == stateNoSchema:
		err = fmt.Errorf("%w: search_path names no schema that exists: make one (create schema …), or name another in the URL (?search_path=…)", err)
	case SQLState(err) == stateReadOnly:
		err = fmt.Errorf("%w: this session takes no writes: name the primary, or set default_transaction_read_only off", err)
	}
	return fmt.Errorf("%s %s: %w", doing, s.at.target(), s.at.hide(err))
}

// read looks at the database as it is now.
func (s *session) read(ctx context.Context) (state, error) {
	st := state{known: s.known}
	db, err := s.eng.open(ctx, false)
	if errors.Is(err, errNoDatabase) {
		return st, nil
	}
	if err != nil {
		return st, err
	}
	defer db.Close()
	st.applied, err = readApplied(ctx, db)
	if err == nil && st.applied == nil {
		st.foreign, err = s.eng.tables(ctx, db)
	}
	return st, err
}

func (s *session) readUsable(ctx context.Context) (state, error) {
	st, err := s.read(ctx)
	if err != nil {
		return st, err
	}
	return st, st.refuse()
}

func (s *session) migrate(ctx context.Context) (Report, error) {
	report := Report{Engine: s.at.engine}
	st, err := s.readUsable(ctx)
	if SQLState(err) == stateNoDatabase && s.Mode == Auto {
		err = nil
	}
	if err != nil {
		return report, err
	}
	switch {
	case s.Mode == Off:
		report.Pending = names(st.pending())
	case s.Mode == VerifyOnly && len(st.pending()) > 0:
		pending := names(st.pending())
		return report, refuse(CodePending, pending, "%s pending: run `stint migrate up`", list("migration", pending))
	case s.Mode == Auto && len(st.pending())+len(st.unsigned()) > 0:
		err = s.migrateLocked(ctx, &report)
	}
	if err != nil {
		return report, err
	}
	return report, s.check(ctx)
}

func (s *session) check(ctx context.Context) error {
	db, err := s.eng.open(ctx, false)
	if errors.Is(err, errNoDatabase) {
		return nil
	}
	if err != nil {
		return err
	}
	defer db.Close()
	return s.eng.check(ctx, db)
}

// migrateLocked reads the state again: another process may have done the work
// while this one waited.
func (s *session) migrateLocked(ctx context.Context, report *Report) error {
	l, err := s.eng.lock(ctx, func(since time.Duration) {
		s.Log.Info("waiting for another process that migrates this database", "database", s.at.target(), "waited", since.Round(time.Second).String())
	})
	if err != nil {
		return fmt.Errorf("take the migration lock: %w", err)
	}
	defer l.release()
	return guard(ctx, l, func(ctx context.Context) error {
		st, err := s.readUsable(ctx)
		if err != nil {
			return err
		}
		if err := s.adopt(ctx, st.unsigned(), report); err != nil {
			return err
		}
		return s.applyAll(ctx, l, st.pending(), report)
	})
}

func (s *session) applyAll(ctx context.Context, l lock, pending []migration, report *Report) error {
	for _, m := range pending {
		start := time.Now()
		s.Log.Info("applying migration", "name", m.name)
		if err := s.apply(ctx, l, m); err != nil {
			return err
		}
		took := time.Since(start)
		report.Applied = append(report.Applied, Applied{m.version, m.name, took})
		s.Log.Info("applied migration", "name", m.name, "took", took.Round(time.Millisecond).String())
	}
	return nil
}

// adopt signs versions that a bare dbmate recorded.
func (s *session) adopt(ctx context.Context, unsigned []migration, report *Report) error {
	if len(unsigned) == 0 {
		return nil
	}
	db, err := s.eng.open(ctx, true)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := createVersions(ctx, db); err != nil {
		return err
	}
	for _, m := range unsigned {
		_, err := db.ExecContext(ctx, "update schema_migrations set checksum = $1 where version = $2 and checksum is null", m.checksum, m.version)
		if err != nil {
			return fmt.Errorf("adopt %s: %w", m.name, err)
		}
		report.Adopted = append(report.Adopted, m.name)
		s.Log.Info("adopted migration", "name", m.name)
	}
	return nil
}
