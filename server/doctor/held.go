package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/stint-run/stint/server/store/inspect"
)

// transactions: whatever is open for long keeps dead rows, and claims step over
// them: they get slower for everybody.
func (e *exam) transactions(ctx context.Context, p *inspect.Postgres, s inspect.Server) {
	for _, look := range []struct {
		id      string
		what    string
		measure func(context.Context) (inspect.Held, error)
		advice  string
		all     bool // every role sees it all
	}{
		{"long_transaction", "transaction", p.OldestTransaction, "end it: select pg_terminate_backend(pid)", s.SeesAll},
		{"oldest_snapshot", "snapshot", p.OldestSnapshot, "end it, it keeps dead rows: select pg_terminate_backend(pid)", s.SeesAll},
		{"prepared_transaction", "prepared transaction", p.OldestPrepared, "commit prepared or rollback prepared, by its name", true},
	} {
		h, err := look.measure(ctx)
		if err != nil {
			e.unmeasured(look.id, "s", err)
			continue
		}
		c := Check{ID: look.id, Value: 0.0, Unit: "s", Detail: "no " + look.what + " is open", Advice: look.advice}
		c.State = above(time.Duration(h.Seconds*float64(time.Second)), e.Limits.LongWarn, e.Limits.LongFail)
		if h.Who != "" {
			c.Value, c.Detail = float64(int64(h.Seconds*1000))/1000, fmt.Sprintf("the oldest %s: %s, %s", look.what, h.Who, h.State)
		}
		if c.State == OK && !look.all {
			c.State, c.Detail, c.Advice = Unknown, "the role sees its own sessions only; "+c.Detail, grantMonitor
		}
		e.add(c)
	}
}

// slots: one that nobody uses keeps log, and maybe dead rows, for ever.
func (e *exam) slots(ctx context.Context, p *inspect.Postgres) {
	slots, err := p.Slots(ctx)
	if err != nil {
		e.unmeasured("replication_slots", "bytes", err)
		return
	}
	c := Check{ID: "replication_slots", State: OK, Value: int64(0), Unit: "bytes", Detail: fmt.Sprintf("%d slots, none keeps much", len(slots))}
	for i, s := range slots {
		if i == 0 {
			c.Value = s.Retained // the most
		}
		state := above(s.Retained, e.Limits.RetainedWarn, e.Limits.RetainedFail)
		switch {
		case state == Fail, s.WALStatus == "lost", s.WALStatus == "unreserved":
			state = Fail
		case !s.Active:
			state = Warn
		}
		if state == OK || c.State == Fail || c.State == state {
			continue
		}
		c.State = state
		c.Detail = fmt.Sprintf("slot %s keeps %d bytes of log, used by somebody: %v, keeps dead rows: %v", s.Name, s.Retained, s.Active, s.Holds)
		c.Advice = "start its reader again, or select pg_drop_replication_slot('" + s.Name + "')"
	}
	e.add(c)
}

func (e *exam) wal(ctx context.Context, p *inspect.Postgres, s inspect.Server) {
	size, err := p.WAL(ctx)
	if err != nil {
		e.unmeasured("wal_size", "bytes", err)
		return
	}
	limit := float64(s.MaxWAL)
	e.add(Check{
		ID: "wal_size", State: above(float64(size), e.Limits.WALWarn*limit, e.Limits.WALFail*limit), Value: size, Unit: "bytes",
		Detail: fmt.Sprintf("of pg_wal; max_wal_size is %d", s.MaxWAL), Advice: "look at replication slots, archive_command and checkpoints",
	})
}
