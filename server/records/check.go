package records

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/sources"
	"github.com/stint-run/stint/server/store"
)

// quietTries is how often a partition is counted beside its writers before they wait
// for the count.
const quietTries = 5

// CheckPartition compares what is maintained of a partition with its records, and
// with repair mends it. A count during which no writer came is one that nobody has to
// wait for. Only a partition that is written to during each of several counts, and
// seems to differ, is counted while it is held.
func CheckPartition(ctx context.Context, s *store.Store, p model.Partition, repair bool) (sources.Drifts, error) {
	for range quietTries {
		is, err := countBeside(ctx, s, p)
		drifts := is.drifts(is.Figures)
		if err != nil || len(drifts) == 0 || is.quiet && !repair {
			return drifts, err
		}
		if !is.quiet {
			continue
		}
		moved, err := is.mend(ctx, s)
		if err != nil || !moved {
			return drifts, err
		}
	}
	return checkHeld(ctx, s, p, repair)
}

// counted is what is maintained of a partition, and what its records come to.
type counted struct {
	maintained
	Figures
	quiet bool // no writer came meanwhile: a difference is one
}

// countBeside counts beside the writers. What is being removed with its connection
// differs from nothing.
func countBeside(ctx context.Context, q model.Reader, p model.Partition) (is counted, err error) {
	before, err := partitionOf(ctx, q, p)
	if before == nil || err != nil {
		return is, err
	}
	if is.Figures, err = Recount(ctx, q, p.ConnectionID, p.Stream); err != nil {
		return is, err
	}
	if is.maintained, err = maintainedOf(ctx, q, *before); err != nil {
		return is, err
	}
	after, err := partitionOf(ctx, q, p)
	if after == nil || err != nil {
		return counted{}, err
	}
	is.quiet = after.Version == before.Version
	return is, nil
}

// partitionOf is a partition as it is; nil if it or its connection is gone.
func partitionOf(ctx context.Context, q model.Reader, p model.Partition) (*model.Partition, error) {
	row, err := q.PartitionGet(ctx, model.PartitionGetParams{ConnectionID: p.ConnectionID, Stream: p.Stream, OwnerID: p.OwnerID})
	if err == nil {
		_, err = sources.Resolve(ctx, q, p.OwnerID, p.ConnectionID)
	}
	if sources.Gone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look up the partition %s of %s: %w", p.Stream, p.ConnectionID, err)
	}
	return &row, nil
}

// mend sets what differs, unless a writer has come since the count.
func (is counted) mend(ctx context.Context, s *store.Store) (moved bool, err error) {
	err = s.Tx(ctx, func(q model.Querier) error {
		held, err := holdPartition(ctx, q, is.Partition)
		moved = held != nil && held.Version != is.Partition.Version
		if held == nil || moved || err != nil {
			return err
		}
		return is.repair(ctx, q, is.Figures)
	})
	return moved, err
}

// checkHeld counts while the partition is held.
func checkHeld(ctx context.Context, s *store.Store, p model.Partition, repair bool) (drifts sources.Drifts, err error) {
	err = s.Tx(ctx, func(q model.Querier) error {
		drifts = nil
		held, err := holdPartition(ctx, q, p)
		if held == nil || err != nil {
			return err
		}
		is, err := countBeside(ctx, q, *held)
		if err != nil {
			return err
		}
		if drifts = is.drifts(is.Figures); len(drifts) > 0 && repair {
			err = is.repair(ctx, q, is.Figures)
		}
		return err
	})
	return drifts, err
}

// holdPartition holds a partition; nil if it is gone.
func holdPartition(ctx context.Context, q model.Querier, p model.Partition) (*model.Partition, error) {
	rows, err := lockPartitions(ctx, q, Target{OwnerID: p.OwnerID, ConnectionID: p.ConnectionID}, []string{p.Stream})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
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
