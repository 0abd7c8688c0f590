package sources_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/sources"
)

// locks notes in which order a transaction locks the running run of a connection and
// the connection, and calls between once, before it locks the connection.
type locks struct {
	model.Querier
	order   []string
	between func(q model.Querier) error
}

func (l *locks) RunLockActive(ctx context.Context, arg model.RunLockActiveParams) (model.RunGetActiveRow, error) {
	l.order = append(l.order, "run")
	return l.Querier.RunLockActive(ctx, arg)
}

func (l *locks) ConnectionLock(ctx context.Context, arg model.ConnectionLockParams) (model.Connection, error) {
	if between := l.between; between != nil {
		l.between = nil
		if err := between(l.Querier); err != nil {
			return model.Connection{}, err
		}
	}
	l.order = append(l.order, "connection")
	return l.Querier.ConnectionLock(ctx, arg)
}

// Who writes for a run holds it, and waits for the connection then: nothing that holds
// the connection may wait for a run, not for one either that began a moment ago.
func TestNoRunIsWaitedForUnderTheLockOfItsConnection(t *testing.T) {
	eachRunning(t, func(d *running) {
		move := func(to string) func(q model.Querier) error {
			return func(q model.Querier) error {
				_, err := sources.Move(d.Context(), q, d.Now, sources.MoveIn{OwnerID: d.Owner, Selector: d.connection, To: to, Actor: "ada"})
				return err
			}
		}
		start := func(q model.Querier) error {
			_, err := sources.Start(d.Context(), q, d.Now, d.in(""))
			return err
		}
		rename := func(q model.Querier) error {
			in := sources.RenameIn{OwnerID: d.Owner, Selector: d.connection, DisplayName: "Two", Actor: "ada", Match: func(int64) error { return nil }}
			_, err := sources.Rename(d.Context(), q, d.Now, in)
			return err
		}
		twice := []string{"run", "connection", "run", "connection"}
		for _, tt := range []struct {
			name   string
			change func(q model.Querier) error
			want   []string
		}{
			{"start", start, twice}, {"rename", rename, []string{"connection"}}, {"pause", move(sources.Paused), []string{"connection"}},
			{"resume", move(sources.Active), []string{"connection"}}, {"revoke", move(sources.Revoked), twice},
		} {
			d.Pass(time.Hour) // the run of the case before gives way
			l := &locks{between: start}
			d.Tx(func(q model.Querier) error {
				l.Querier = q
				return tt.change(l)
			})
			if !slices.Equal(l.order, tt.want) {
				d.Errorf("%s while a run begins locks %v, want %v", tt.name, l.order, tt.want)
			}
		}
	})
}
