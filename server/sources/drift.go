package sources

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/store"
)

// Drift is a maintained figure that is not what its rows give.
type Drift struct {
	Figure  string // table.column
	Stored  string
	Counted string
}

// Drifts collects the differences of one row, or of a few.
type Drifts []Drift

// Texts adds a figure if the two texts differ.
func (d *Drifts) Texts(figure, stored, counted string) {
	if stored != counted {
		*d = append(*d, Drift{Figure: figure, Stored: stored, Counted: counted})
	}
}

// Numbers adds a figure if the two numbers differ.
func (d *Drifts) Numbers(figure string, stored, counted int64) {
	d.Texts(figure, strconv.FormatInt(stored, 10), strconv.FormatInt(counted, 10))
}

// CheckHeads compares the heads of a connection with its runs. A difference is
// looked at again under the connection's lock, so that none is reported that
// a writer made meanwhile; with repair it is mended there.
func CheckHeads(ctx context.Context, s *store.Store, c model.Connection, repair bool) (drifts Drifts, err error) {
	if drifts, err = headDrifts(ctx, s, c); err != nil || len(drifts) == 0 {
		return drifts, err
	}
	now, err := s.Time(ctx)
	if err != nil {
		return nil, err
	}
	err = s.Tx(ctx, func(q model.Querier) error {
		locked, _, err := lockWithRun(ctx, q, c.OwnerID, c.ID)
		if err == nil {
			drifts, err = headDrifts(ctx, q, locked)
		}
		if err != nil || len(drifts) == 0 || !repair {
			return err
		}
		return repairHeads(ctx, q, now, locked)
	})
	if Gone(err) {
		return nil, nil
	}
	return drifts, err
}

// Gone tells whether an error says that a row, or what it stands for, is not there:
// somebody has deleted it meanwhile.
func Gone(err error) bool {
	f, ok := errors.AsType[*fault.Fault](err)
	return store.NotFound(err) || ok && f.Code == fault.NotFound().Code
}

// headDrifts are those of one connection.
func headDrifts(ctx context.Context, q model.Reader, c model.Connection) (Drifts, error) {
	stored, err := q.HeadGet(ctx, model.HeadGetParams{ConnectionID: c.ID, OwnerID: c.OwnerID})
	if store.NotFound(err) {
		return Drifts{{Figure: "connection_heads", Stored: "no row", Counted: "one"}}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the heads of %s: %w", c.ID, err)
	}
	counted, err := runs.Latest(ctx, q, c.ID)
	if err != nil {
		return nil, err
	}
	var drifts Drifts
	for _, f := range []struct {
		figure string
		stored *string
		is     string
	}{
		{"active_run_id", stored.ActiveRunID, counted.Active}, {"latest_run_id", stored.LatestRunID, counted.Latest},
		{"settled_run_id", stored.SettledRunID, counted.Settled}, {"succeeded_run_id", stored.SucceededRunID, counted.Succeeded},
	} {
		drifts.Texts("connection_heads."+f.figure, deref(f.stored), f.is)
	}
	return drifts, nil
}

// repairHeads makes the heads of a locked connection anew; what else they hold stays.
func repairHeads(ctx context.Context, q model.Querier, now coltype.Time, c model.Connection) error {
	counted, err := runs.Latest(ctx, q, c.ID)
	if err != nil {
		return err
	}
	err = q.HeadSetRuns(ctx, model.HeadSetRunsParams{
		ConnectionID: c.ID, OwnerID: c.OwnerID, UpdatedAt: now,
		ActiveRunID: orNil(counted.Active), LatestRunID: orNil(counted.Latest),
		SettledRunID: orNil(counted.Settled), SucceededRunID: orNil(counted.Succeeded),
	})
	if err != nil {
		return fmt.Errorf("repair the heads of %s: %w", c.ID, err)
	}
	return nil
}

// orNil is nil for an empty text.
func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
