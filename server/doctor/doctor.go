// Package doctor judges the health of a database, and of the server that uses
// it. It changes nothing. Each check has an id that stays, what was measured,
// and what to do; what the role may not read is unknown, never an error.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/store/inspect"
)

// The states of a check, and of a report, which is that of its worst check.
const (
	OK      = "ok"
	Unknown = "unknown" // it could not be measured
	Warn    = "warn"    // look at it soon
	Fail    = "fail"    // act now
)

var severity = []string{OK, Unknown, Warn, Fail}

// Check is one thing that was looked at.
type Check struct {
	ID     string `json:"id"`
	State  string `json:"state"`
	Value  any    `json:"value"` // a number or text; null if it was not measured
	Unit   string `json:"unit"`  // of a number; "" if it has none
	Detail string `json:"detail"`
	Advice string `json:"advice"` // "" when there is nothing to do
}

// Report is all checks of a database.
type Report struct {
	Engine   string  `json:"engine"`
	Database string  `json:"database"` // without its password
	State    string  `json:"state"`
	Checks   []Check `json:"checks"`
}

// Config says what to look at.
type Config struct {
	URL string
	// Source is where the URL came from, as people know it: STINT_DB, --db.
	Source string
	// EnvPassword: the driver finds a password in PGPASSWORD.
	EnvPassword bool
	Server      Server
	Limits      Limits
}

// Limits are the bounds from which on a check warns and fails.
type Limits struct {
	SkewWarn, SkewFail               time.Duration
	LongWarn, LongFail               time.Duration // transactions and snapshots
	LogWarn, LogFail                 int64         // bytes of SQLite's log
	FreeWarn, FreeFail               int64         // bytes of disk
	DeadWarn, DeadFail               float64       // times what starts autovacuum
	ConnectionsWarn, ConnectionsFail float64       // share of those available
	WALWarn, WALFail                 float64       // times max_wal_size
	RetainedWarn, RetainedFail       int64         // bytes kept for a slot
}

// Defaults are the documented limits.
var Defaults = Limits{
	SkewWarn: 2 * time.Second, SkewFail: time.Minute,
	LongWarn: time.Minute, LongFail: 10 * time.Minute,
	LogWarn: 64 << 20, LogFail: 1 << 30,
	FreeWarn: 1 << 30, FreeFail: 100 << 20,
	DeadWarn: 2, DeadFail: 10,
	ConnectionsWarn: 0.8, ConnectionsFail: 0.95,
	WALWarn: 2, WALFail: 10,
	RetainedWarn: 1 << 30, RetainedFail: 10 << 30,
}

// exam is one run.
type exam struct {
	Config
	Report
}

// Run looks at everything. Its error means that the database could not be
// reached, or that there is none.
func Run(ctx context.Context, c Config) (Report, error) {
	engine, err := store.EngineOf(c.URL)
	if err != nil {
		return Report{}, err
	}
	e := &exam{Config: c, Report: Report{Engine: engine, Database: store.Redact(c.URL), State: OK, Checks: []Check{}}}
	if engine == store.SQLite {
		err = e.sqlite(ctx)
	} else {
		err = e.postgres(ctx)
	}
	if err != nil {
		return Report{}, err
	}
	e.password()
	e.server()
	for _, c := range e.Checks {
		if slices.Index(severity, c.State) > slices.Index(severity, e.State) {
			e.State = c.State
		}
	}
	return e.Report, nil
}

func (e *exam) add(c Check) {
	if c.State == OK {
		c.Advice = ""
	}
	e.Checks = append(e.Checks, c)
}

const grantMonitor = "grant pg_monitor to the role that doctor connects as"

// unmeasured adds a check that could not be made.
func (e *exam) unmeasured(id, unit string, err error) {
	c := Check{ID: id, State: Unknown, Unit: unit, Detail: "not measured: " + err.Error(), Advice: "look at the cause, and run doctor again"}
	if inspect.NoRights(err) {
		c.Detail, c.Advice = "the role may not read it", grantMonitor
	}
	e.add(c)
}

// above is the state of a figure that should be small.
func above[T int | int64 | float64 | time.Duration](v, warn, fail T) string {
	switch {
	case v >= fail:
		return Fail
	case v >= warn:
		return Warn
	}
	return OK
}

// below is the state of a figure that should be large.
func below(v, warn, fail int64) string { return above(-v, -warn, -fail) }

// schema judges the versions and, by itself, the indexes. An error means that
// the database could not be reached.
func (e *exam) schema(ctx context.Context) error {
	versions, err := schema.Status(ctx, schema.Options{URL: e.URL})
	if err != nil && (store.Away(err) || store.NoDatabase(err) || store.Rejected(err) != nil) {
		return err
	}
	if inspect.NoRights(err) {
		e.add(Check{ID: "schema", State: Unknown, Unit: "versions", Detail: "the role may not read schema_migrations", Advice: "grant select on schema_migrations to the role that doctor connects as"})
		return nil
	}
	if err != nil {
		e.unmeasured("schema", "versions", err)
		return nil
	}
	found := map[string][]string{}
	for _, v := range versions {
		found[v.State] = append(found[v.State], v.Version)
	}
	wrong := len(versions) - len(found[schema.StateApplied])
	c := Check{ID: "schema", State: OK, Value: wrong, Unit: "versions", Detail: fmt.Sprintf("all %d versions of this build are applied", len(versions))}
	if wrong > 0 {
		c.State = Fail
	}
	for _, kind := range []struct{ state, advice string }{
		{schema.StatePending, "run stint migrate up"},
		{schema.StateOutOfOrder, "a version row is missing under newer ones: restore a backup, or add what stint migrate status names"},
		{schema.StateEdited, "use a build with the released files"},
		{schema.StateUnknown, "use the newer build that migrated it, or restore the backup from before"},
	} {
		if list := found[kind.state]; len(list) > 0 {
			c.Detail, c.Advice = fmt.Sprintf("%s: %v", kind.state, list), kind.advice
		}
	}
	e.add(c)
	return nil
}

// indexes looks for those whose building failed.
func (e *exam) indexes(ctx context.Context) {
	_, err := schema.Migrate(ctx, schema.Options{URL: e.URL, Mode: schema.Off})
	bad, refused := errors.AsType[*schema.Error](err)
	switch {
	case refused && bad.Code == schema.CodeBadIndex:
		e.add(Check{ID: "indexes", State: Fail, Value: len(bad.Names), Unit: "indexes", Detail: bad.Detail, Advice: "reindex index concurrently " + bad.Names[0]})
	case refused: // the check of the schema has said it
		e.add(Check{ID: "indexes", State: Unknown, Unit: "indexes", Detail: "not looked at while the schema is refused", Advice: "mend the schema first"})
	case err != nil:
		e.unmeasured("indexes", "indexes", err)
	default:
		e.add(Check{ID: "indexes", State: OK, Value: 0, Unit: "indexes", Detail: "every index is valid"})
	}
}

// clock compares this machine's wall clock with a time that was measured in the
// middle of from and to.
func (e *exam) clock(skew time.Duration, how string) {
	e.add(Check{
		ID: "clock_skew", State: above(skew.Abs(), e.Limits.SkewWarn, e.Limits.SkewFail),
		Value: skew.Round(time.Millisecond).Seconds(), Unit: "s", Detail: how,
		Advice: "let a time service set this machine's clock",
	})
}

// password reports where one is used; it never shows it.
func (e *exam) password() {
	c := Check{ID: "password", State: OK, Value: "none", Detail: "no password in the URL or PGPASSWORD"}
	switch {
	case store.HasPassword(e.URL):
		c.State, c.Value, c.Detail = Warn, e.Source, "the URL in "+e.Source+" holds a password"
	case e.EnvPassword && e.Engine == store.Postgres:
		c.State, c.Value, c.Detail = Warn, "PGPASSWORD", "the environment holds a password"
	}
	c.Advice = "use a client certificate that pg_hba.conf maps to the role"
	e.add(c)
}
