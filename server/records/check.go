package records

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/sources"
	"github.com/stint-run/stint/server/store"
)

// quietTries is how often a partition is counted in the hope that nobody writes to it
// meanwhile, before its writers are kept waiting.
const quietTries = 3

// CheckPartition compares what is maintained of a partition with its records. Nothing
// is reported that a writer or a removal made meanwhile. It keeps writers waiting,
// those of the whole file on SQLite, only where it repairs, or where each count finds
// a difference and a new version.
func CheckPartition(ctx context.Context, s *store.Store, p model.Partition, repair bool) (sources.Drifts, error) {
	for range quietTries {
		drifts, quiet, err := checkBeside(ctx, s, p)
		if err != nil || len(drifts) == 0 || quiet && !repair {
			return drifts, err
		}
		if quiet {
			break
		}
	}
	var drifts sources.Drifts
	err := s.Tx(ctx, func(q model.Querier) (err error) {
		drifts, err = checkHeld(ctx, q, p, repair)
		return err
	})
	return drifts, err
}

// checkBeside compares beside writers. quiet says that none changed the partition.
func checkBeside(ctx context.Context, q model.Reader, p model.Partition) (drifts sources.Drifts, quiet bool, err error) {
	before, err := partitionOf(ctx, q, p)
	if before == nil || err != nil {
		return nil, true, err
	}
	_, drifts, _, err = compare(ctx, q, *before)
	if err != nil || len(drifts) == 0 {
		return nil, true, err
	}
	after, err := partitionOf(ctx, q, p)
	if after == nil || err != nil {
		return nil, true, err
	}
	return drifts, after.Version == before.Version, nil
}

// partitionOf is the partition as it is now; nil if it is gone.
func partitionOf(ctx context.Context, q model.Reader, p model.Partition) (*model.Partition, error) {
	now, err := q.PartitionGet(ctx, model.PartitionGetParams{OwnerID: p.OwnerID, ConnectionID: p.ConnectionID, Stream: p.Stream})
	if store.NotFound(err) {
		return nil, nil
	}
	return &now, wrap("read partition "+p.Stream+" of "+p.ConnectionID, err)
}

// checkHeld is CheckPartition in a transaction, which holds the partition.
func checkHeld(ctx context.Context, q model.Querier, p model.Partition, repair bool) (sources.Drifts, error) {
	rows, err := lockPartitions(ctx, q, Target{OwnerID: p.OwnerID, ConnectionID: p.ConnectionID}, []string{p.Stream})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	maintained, drifts, counted, err := compare(ctx, q, rows[0])
	if err == nil && len(drifts) > 0 && repair {
		err = maintained.repair(ctx, q, counted)
	}
	return drifts, err
}

// compare compares a partition with its records. There are no differences where its
// connection is gone: its records go before it does.
func compare(ctx context.Context, q model.Reader, p model.Partition) (m maintained, drifts sources.Drifts, counted Figures, err error) {
	if m, err = maintainedOf(ctx, q, p); err != nil {
		return m, nil, counted, err
	}
	if counted, err = Recount(ctx, q, p.ConnectionID, p.Stream); err != nil {
		return m, nil, counted, err
	}
	if drifts = m.drifts(counted); len(drifts) == 0 {
		return m, nil, counted, nil
	}
	if _, err = sources.Resolve(ctx, q, p.OwnerID, p.ConnectionID); gone(err) {
		return m, nil, counted, nil
	}
	return m, drifts, counted, err
}

// gone reports whether an error is the fault not_found.
func gone(err error) bool {
	f, ok := errors.AsType[*fault.Fault](err)
	return ok && f.Code == fault.NotFound().Code
}

// maintained is what is maintained of a partition.
type maintained struct {
	model.Partition
	days map[int64]int64
}

func maintainedOf(ctx context.Context, q model.Reader, p model.Partition) (maintained, error) {
	m := maintained{Partition: p, days: map[int64]int64{}}
	after := int64(-1 << 62)
	for {
		rows, err := q.DayCountWalk(ctx, model.DayCountWalkParams{ConnectionID: p.ConnectionID, Stream: p.Stream, AfterDay: after, Max: slice})
		if err != nil {
			return m, fmt.Errorf("read the days of %s of %s: %w", p.Stream, p.ConnectionID, err)
		}
		for _, r := range rows {
			m.days[r.Day], after = r.N, r.Day
		}
		if len(rows) < slice {
			return m, nil
		}
	}
}

// drifts are the figures that differ from those that were counted.
func (m maintained) drifts(f Figures) sources.Drifts {
	var out sources.Drifts
	out.Numbers("partitions.live_count", m.LiveCount, f.Live)
	out.Numbers("partitions.undated_count", m.UndatedCount, f.Undated)
	out.Numbers("partitions.bad_time_count", m.BadTimeCount, f.BadTimes)
	out.Texts("partitions.min_sort_at", timeOrNone(m.MinSortAt), timeOrNone(f.Min))
	out.Texts("partitions.max_sort_at", timeOrNone(m.MaxSortAt), timeOrNone(f.Max))
	// A swept tombstone may have had the highest: only a lower one is wrong.
	out.Numbers("partitions.version", m.Version, max(m.Version, f.Version))
	out.Numbers("partitions.last_seq", m.LastSeq, max(m.LastSeq, f.Seq))
	for _, d := range m.driftingDays(f) {
		out.Numbers("day_counts "+dayName(d), m.days[d], f.Days[d])
	}
	return out
}

// driftingDays are the days whose count is another, in their order.
func (m maintained) driftingDays(f Figures) []int64 {
	all := maps.Clone(m.days)
	maps.Copy(all, f.Days)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(d int64) bool { return m.days[d] == f.Days[d] })
}

// repair sets what differs, in a partition that the transaction holds.
func (m maintained) repair(ctx context.Context, q model.Querier, f Figures) error {
	type dayRow struct {
		Day int64 `json:"day"`
		N   int64 `json:"n"`
	}
	var rows []dayRow
	for _, d := range m.driftingDays(f) {
		rows = append(rows, dayRow{d, f.Days[d]})
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		_, err = q.DayCountSetMany(ctx, model.DayCountSetManyParams{OwnerID: m.OwnerID, ConnectionID: m.ConnectionID, Stream: m.Stream, Rows: string(text)})
	}
	if err == nil {
		err = q.PartitionSetFigures(ctx, model.PartitionSetFiguresParams{
			ConnectionID: m.ConnectionID, Stream: m.Stream, OwnerID: m.OwnerID,
			Version: max(m.Version, f.Version), LastSeq: max(m.LastSeq, f.Seq),
			LiveCount: f.Live, UndatedCount: f.Undated, BadTimeCount: f.BadTimes, MinSortAt: f.Min, MaxSortAt: f.Max,
		})
	}
	if err != nil {
		return fmt.Errorf("repair %s of %s: %w", m.Stream, m.ConnectionID, err)
	}
	return nil
}

func timeOrNone(at coltype.Time) string {
	if at.IsZero() {
		return "none"
	}
	return at.String()
}

// dayName is a day as it is written, such as 2024-05-06.
func dayName(day int64) string {
	return coltype.FromMicros(day * 24 * 60 * 60 * 1_000_000).String()[:len("2024-05-06")]
}
