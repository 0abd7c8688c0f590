package control

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/notify"
	"github.com/stint-run/stint/server/store"
)

// Readiness says whether this replica can serve: the database answers, takes the
// writes of this replica, and has every migration that this build knows. Draining
// is the edge's own affair. It uses none of the connections that requests use.
type Readiness struct {
	store   *store.Store
	runner  *Runner
	overdue Overdue
	bus     *notify.Bus

	asking chan struct{} // holds the one who checks
	last   finding
}

// finding is the outcome of a check. It is remembered for a moment, so that many
// probes cost the database no more than one; that all is well, only until a request
// finds otherwise.
type finding struct {
	health Health
	err    error
	at     time.Time // zero before the first

	troubles int64 // of requests, before it
}

const (
	remembered = time.Second
	// fresh is what a person is shown, who has changed something perhaps. Anybody may
	// ask, so that each request must not cost the database a check.
	fresh = 100 * time.Millisecond
	// believed is how long a probe that had no answer in time says nothing: the
	// machine may be busy, and requests find out when the database is away.
	believed = 5 * time.Second
)

// Overdue is the time since the oldest overdue lease of a job ran out, one that
// was not taken back; false if there is none.
type Overdue func(ctx context.Context, q model.Reader, now coltype.Time) (age time.Duration, found bool, err error)

// NewReadiness is that of a server on s; runner and overdue may be nil.
func NewReadiness(s *store.Store, runner *Runner, overdue Overdue) *Readiness {
	return &Readiness{store: s, runner: runner, overdue: overdue, asking: make(chan struct{}, 1)}
}

// Tells makes Health include the state of the bus.
func (r *Readiness) Tells(bus *notify.Bus) *Readiness {
	r.bus = bus
	return r
}

// notifications is the state of the bus; null without one.
func (r *Readiness) notifications() *string {
	if state := r.bus.State(); state != "" {
		return &state
	}
	return nil
}

// The words of a Health.
const (
	Reachable     = "reachable"
	Unreachable   = "unreachable"
	SchemaCurrent = "current"
	SchemaAhead   = "ahead"   // a newer build has migrated: this one goes on
	SchemaPending = "pending" // this build's migrations are not all applied
	Unknown       = "unknown"
)

// CauseSchema is the cause of a 503 for pending migrations; store has the others.
const CauseSchema = "schema_pending"

// Health is what readiness depends on, and what /readyz?verbose shows.
type Health struct {
	Database string       `json:"database"`
	Engine   string       `json:"engine"`
	Schema   string       `json:"schema"`
	Pending  []string     `json:"pending"` // versions to be applied
	Ahead    []string     `json:"ahead"`   // versions this build does not know
	Pool     PoolHealth   `json:"pool"`
	Holder   *string      `json:"holder"` // this replica's name on leases; null for who may not list them
	Loops    []LoopHealth `json:"loops"`

	// Notifications is whether those of other replicas arrive (ok), or their work is
	// found by polling; null on SQLite, which one process serves.
	Notifications *string `json:"notifications"`

	// OldestOverdueSeconds is the age that Overdue found; null if it found none.
	OldestOverdueSeconds *float64 `json:"oldest_overdue_lease_seconds"`
}

// PoolHealth is this replica's connections.
type PoolHealth struct {
	Max      int   `json:"max"`
	Open     int   `json:"open"`
	InUse    int   `json:"in_use"`
	Waited   int64 `json:"waited"`
	LogBytes int64 `json:"log_bytes"` // of SQLite's write-ahead log
}

// LoopHealth is how a background pass fares; age_seconds is null before its
// first result. The text of an error stays in the log.
type LoopHealth struct {
	Name       string   `json:"name"`
	OK         bool     `json:"ok"`
	Passes     int64    `json:"passes"`
	Failures   int64    `json:"failures"`
	Done       int      `json:"done"`
	AgeSeconds *float64 `json:"age_seconds"`

	Lease *LeaseHealth `json:"lease"` // null for a pass that every replica runs
}

// LeaseHealth is how a pass stands that one replica at a time runs.
type LeaseHealth struct {
	Held    bool   `json:"held"`    // by this replica, now
	Term    *int64 `json:"term"`    // the last one that it held; null if none
	Skipped int64  `json:"skipped"` // passes left to the replica that held it
}

// Ready is nil if this replica can serve, else a 503 that says why not.
func (r *Readiness) Ready(ctx context.Context) error {
	_, err := r.check(ctx, remembered)
	return err
}

// Health is the Health of this replica, whether Ready or not: what Ready depends
// on, the pool and the loops. Its name on leases tells host and process: names
// says whether the caller may see it.
func (r *Readiness) Health(ctx context.Context, names bool) (any, error) {
	h, err := r.check(ctx, fresh)
	h.Pool, h.Notifications = PoolHealth(r.store.Pool()), r.notifications()
	if err == nil {
		h.OldestOverdueSeconds = r.oldestOverdue(ctx)
	}
	h.Loops = []LoopHealth{}
	if r.runner != nil {
		if holder := r.runner.Holder(); names {
			h.Holder = &holder
		}
		for _, s := range r.runner.Status() {
			h.Loops = append(h.Loops, loopHealth(s))
		}
	}
	return h, err
}

// oldestOverdue is null too while the database cannot say, and where all connections
// are in use: a probe waits for none.
func (r *Readiness) oldestOverdue(ctx context.Context) *float64 {
	if r.overdue == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.store.ProbeWait()/3)
	defer cancel()
	now, err := r.store.Time(ctx)
	if err != nil {
		return nil
	}
	age, found, err := r.overdue(ctx, r.store, now)
	if err != nil || !found {
		return nil
	}
	seconds := age.Seconds()
	return &seconds
}

func loopHealth(s LoopStatus) LoopHealth {
	h := LoopHealth{Name: s.Name, OK: s.Error == "", Passes: s.Passes, Failures: s.Failures, Done: s.Done}
	if s.Age >= 0 {
		age := s.Age.Seconds()
		h.AgeSeconds = &age
	}
	if s.Lease {
		h.Lease = &LeaseHealth{Held: s.Held, Skipped: s.Skipped}
		if s.Term > 0 {
			h.Lease.Term = &s.Term
		}
	}
	return h
}

// check is the last finding if it is younger than age, or a new one. Whoever asked first may give up: the
// finding is for the others too.
func (r *Readiness) check(ctx context.Context, age time.Duration) (Health, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.store.ProbeWait())
	defer cancel()
	select {
	case r.asking <- struct{}{}:
		defer func() { <-r.asking }()
	case <-ctx.Done():
		return r.unknown(), store.Explain(ctx.Err())
	}
	if r.stands(age) {
		return r.last.health, r.last.err
	}
	troubles := r.store.Troubles()
	h, err := r.ask(ctx)
	if errors.Is(err, context.DeadlineExceeded) && r.last.err == nil && r.stands(believed) {
		return r.last.health, nil
	}
	r.last = finding{h, err, time.Now(), troubles}
	return h, err
}

// stands reports whether the last finding is younger than d, and no request found
// otherwise since.
func (r *Readiness) stands(d time.Duration) bool {
	return !r.last.at.IsZero() && time.Since(r.last.at) < d && (r.last.err != nil || r.last.troubles == r.store.Troubles())
}

func (r *Readiness) unknown() Health {
	return Health{
		Database: Unreachable, Engine: r.store.Engine(), Schema: Unknown, Pending: []string{}, Ahead: []string{},
	}
}

func (r *Readiness) ask(ctx context.Context) (Health, error) {
	h := r.unknown()
	if err := r.store.Ping(ctx); err != nil {
		return h, err
	}
	gap, err := r.store.Gap(ctx)
	if err != nil {
		return h, err
	}
	h.Database, h.Schema = Reachable, SchemaCurrent
	h.Pending, h.Ahead = append(h.Pending, gap.Pending...), append(h.Ahead, gap.Ahead...)
	if len(gap.Pending) > 0 {
		h.Schema = SchemaPending
		return h, fault.Unavailable("Migrations are pending: "+strings.Join(h.Pending, ", ")+".").
			After(5*time.Second).With("cause", CauseSchema)
	}
	if len(gap.Ahead) > 0 {
		h.Schema = SchemaAhead
	}
	if err := r.store.TryWrite(ctx); err != nil {
		return h, err
	}
	_, err = r.store.Time(ctx)
	return h, err
}
