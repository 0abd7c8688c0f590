package records

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/sources"
	"github.com/stint-run/stint/server/store"
)

// OwnerIn is an owner whose numbers are checked. Highest is the highest number of a
// partition of the owner.
type OwnerIn struct {
	OwnerID string
	Highest int64
}

// CheckOwner compares an owner's sequence with the highest number of the owner's
// partitions, and the counts of the quarantine with what is kept; with repair it
// mends them. The counts and what they are made from are read in one statement, so
// that no difference is one that a writer made meanwhile. A row that is missing is
// made anew: with another epoch, which makes readers begin again.
func CheckOwner(ctx context.Context, s *store.Store, in OwnerIn, repair bool) (sources.Drifts, error) {
	drifts, _, err := ownerDrifts(ctx, s, in)
	if err != nil || len(drifts) == 0 || !repair {
		return drifts, err
	}
	err = s.Tx(ctx, func(q model.Querier) (err error) {
		drifts, err = repairOwner(ctx, q, in)
		return err
	})
	return drifts, err
}

// repairOwner mends an owner's row, which the transaction holds from its first
// statement on: nothing is counted in or out meanwhile.
func repairOwner(ctx context.Context, q model.Querier, in OwnerIn) (sources.Drifts, error) {
	_, missing := q.OwnerSeqGet(ctx, model.OwnerSeqGetParams{OwnerID: in.OwnerID})
	held, err := takeSeq(ctx, q, in.OwnerID, 0)
	if err != nil {
		return nil, err
	}
	drifts, is, err := ownerDrifts(ctx, q, in)
	if err != nil {
		return nil, err
	}
	if store.NotFound(missing) {
		drifts = noOwnerSeq()
	}
	if err := q.OwnerSeqSet(ctx, model.OwnerSeqSetParams{OwnerID: in.OwnerID, Seq: max(held.Seq, in.Highest)}); err != nil {
		return nil, fmt.Errorf("repair the numbers of %s: %w", in.OwnerID, err)
	}
	_, err = q.OwnerSeqCountRejected(ctx, model.OwnerSeqCountRejectedParams{
		OwnerID: in.OwnerID, Added: is.KeptLines - is.RejectedCount, AddedBytes: is.KeptBytes - is.RejectedBytes,
	})
	if err != nil {
		return nil, fmt.Errorf("repair the quarantine of %s: %w", in.OwnerID, err)
	}
	return drifts, nil
}

func ownerDrifts(ctx context.Context, q model.Reader, in OwnerIn) (out sources.Drifts, is model.OwnerSeqRecountRow, err error) {
	is, err = q.OwnerSeqRecount(ctx, model.OwnerSeqRecountParams{OwnerID: in.OwnerID})
	switch {
	case store.NotFound(err) && in.Highest > 0:
		return noOwnerSeq(), is, nil
	case store.NotFound(err):
		return nil, is, nil // a partition without records, which a full refresh has made
	case err != nil:
		return nil, is, fmt.Errorf("recount the quarantine of %s: %w", in.OwnerID, err)
	}
	out.Numbers("owner_seq.seq", is.Seq, max(is.Seq, in.Highest))
	out.Numbers("owner_seq.rejected_count", is.RejectedCount, is.KeptLines)
	out.Numbers("owner_seq.rejected_bytes", is.RejectedBytes, is.KeptBytes)
	return out, is, nil
}

func noOwnerSeq() sources.Drifts { return missingRow("owner_seq") }

func missingRow(table string) sources.Drifts {
	return sources.Drifts{{Figure: table, Stored: "no row", Counted: "one"}}
}

// CheckRejected compares how many lines of a connection the heads count with those
// that the quarantine keeps, in the same way. Heads that are missing have no count:
// sources.CheckHeads names them.
func CheckRejected(ctx context.Context, s *store.Store, c model.Connection, repair bool) (sources.Drifts, error) {
	of := Of{OwnerID: c.OwnerID, ConnectionID: c.ID}
	drifts, _, err := rejectedDrifts(ctx, s, of)
	if err != nil || len(drifts) == 0 || !repair {
		return drifts, err
	}
	now, err := s.Time(ctx)
	if err != nil {
		return nil, err
	}
	err = s.Tx(ctx, func(q model.Querier) (err error) {
		drifts, err = repairRejected(ctx, q, now, of)
		return err
	})
	return drifts, err
}

// repairRejected mends the count. To count none holds the row.
func repairRejected(ctx context.Context, q model.Querier, now coltype.Time, of Of) (sources.Drifts, error) {
	if err := sources.CountRejected(ctx, q, now, of.OwnerID, of.ConnectionID, 0); err != nil {
		return nil, err
	}
	drifts, missing, err := rejectedDrifts(ctx, q, of)
	if err != nil || missing == 0 {
		return drifts, err
	}
	return drifts, sources.CountRejected(ctx, q, now, of.OwnerID, of.ConnectionID, missing)
}

// rejectedDrifts also returns how many lines are to be added to the count.
func rejectedDrifts(ctx context.Context, q model.Reader, of Of) (out sources.Drifts, missing int64, err error) {
	counted, kept, err := sources.RecountRejected(ctx, q, of.OwnerID, of.ConnectionID)
	if err != nil {
		if sources.Gone(err) {
			err = nil
		}
		return nil, 0, err
	}
	out.Numbers("connection_heads.rejected_count", counted, kept)
	return out, kept - counted, nil
}
