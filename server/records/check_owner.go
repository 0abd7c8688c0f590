package records

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/sources"
	"github.com/stint-run/stint/server/store"
)

// Kept are the lines that the quarantine keeps, and their bytes.
type Kept struct{ Lines, Bytes int64 }

// Quarantine is what is kept, by owner and by connection.
type Quarantine struct{ Owners, Connections map[string]Kept }

// CountQuarantine counts the quarantine anew, in slices.
func CountQuarantine(ctx context.Context, q model.Reader) (Quarantine, error) {
	out := Quarantine{map[string]Kept{}, map[string]Kept{}}
	after := ""
	for {
		rows, err := q.RejectionWalk(ctx, model.RejectionWalkParams{AfterID: after, Max: slice})
		if err != nil {
			return out, fmt.Errorf("count the quarantine: %w", err)
		}
		for _, r := range rows {
			after = r.ID
			owner, connection := out.Owners[r.OwnerID], out.Connections[r.ConnectionID]
			out.Owners[r.OwnerID] = Kept{owner.Lines + 1, owner.Bytes + r.HeldBytes}
			out.Connections[r.ConnectionID] = Kept{connection.Lines + 1, connection.Bytes + r.HeldBytes}
		}
		if len(rows) < slice {
			return out, nil
		}
	}
}

// CheckOwner compares an owner's sequence with the highest number of the owner's
// partitions, and the counts of the quarantine with what is kept. A difference is
// looked at again while the sequence is held, which is made if it is missing.
func CheckOwner(ctx context.Context, s *store.Store, of model.OwnerSeq, highest int64, kept Quarantine, repair bool) (drifts sources.Drifts, err error) {
	if len(ownerDrifts(of, highest, kept.Owners[of.OwnerID])) == 0 {
		return nil, nil
	}
	err = s.Tx(ctx, func(q model.Querier) error {
		held, kept, err := holdQuarantine(ctx, q, of.OwnerID)
		if err != nil {
			return err
		}
		is := kept.Owners[of.OwnerID]
		if drifts = ownerDrifts(held, highest, is); len(drifts) == 0 || !repair {
			return nil
		}
		return q.OwnerSeqSet(ctx, model.OwnerSeqSetParams{
			OwnerID: held.OwnerID, Seq: max(held.Seq, highest), RejectedCount: is.Lines, RejectedBytes: is.Bytes,
		})
	})
	return drifts, err
}

func ownerDrifts(of model.OwnerSeq, highest int64, kept Kept) (out sources.Drifts) {
	out.Numbers("owner_seq.seq", of.Seq, max(of.Seq, highest))
	out.Numbers("owner_seq.rejected_count", of.RejectedCount, kept.Lines)
	out.Numbers("owner_seq.rejected_bytes", of.RejectedBytes, kept.Bytes)
	return out
}

// CheckRejected compares how many lines of a connection the heads count with those
// that the quarantine keeps, in the same way. Heads that are missing have no count:
// sources.CheckHeads names them.
func CheckRejected(ctx context.Context, s *store.Store, c model.Connection, kept Quarantine, repair bool) (drifts sources.Drifts, err error) {
	counted, err := sources.RejectedCount(ctx, s, c.OwnerID, c.ID)
	if err != nil || counted == kept.Connections[c.ID].Lines {
		return nil, orGone(err)
	}
	err = s.Tx(ctx, func(q model.Querier) (err error) {
		drifts, err = checkRejectedHeld(ctx, s, q, c, repair)
		return err
	})
	return drifts, orGone(err)
}

// checkRejectedHeld is the same in a transaction, which holds the connection, and
// then the owner's sequence.
func checkRejectedHeld(ctx context.Context, s *store.Store, q model.Querier, c model.Connection, repair bool) (drifts sources.Drifts, err error) {
	if _, err := sources.Lock(ctx, q, c.OwnerID, c.ID); err != nil {
		return nil, err
	}
	_, kept, err := holdQuarantine(ctx, q, c.OwnerID)
	if err != nil {
		return nil, err
	}
	counted, err := sources.RejectedCount(ctx, q, c.OwnerID, c.ID)
	if err != nil {
		return nil, err
	}
	is := kept.Connections[c.ID].Lines
	drifts.Numbers("connection_heads.rejected_count", counted, is)
	if counted == is || !repair {
		return drifts, nil
	}
	now, err := s.TxTime()
	if err != nil {
		return nil, err
	}
	return drifts, sources.CountRejected(ctx, q, now, c.OwnerID, c.ID, is-counted)
}

// orGone passes over a connection that is deleted meanwhile.
func orGone(err error) error {
	if gone(err) {
		return nil
	}
	return err
}

// holdQuarantine holds an owner's sequence, without which no line is kept or
// discarded, and counts.
func holdQuarantine(ctx context.Context, q model.Querier, ownerID string) (model.OwnerSeq, Quarantine, error) {
	held, err := takeSeq(ctx, q, ownerID, 0)
	if err != nil {
		return held, Quarantine{}, err
	}
	kept, err := CountQuarantine(ctx, q)
	return held, kept, err
}
