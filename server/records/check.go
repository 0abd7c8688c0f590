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

// CheckPartition compares what is maintained of a partition with its records. A
// difference is looked at again while the partition is held, so that none is
// reported that a writer made meanwhile; with repair it is mended there.
func CheckPartition(ctx context.Context, s *store.Store, p model.Partition, repair bool) (sources.Drifts, error) {
	maintained, err := maintainedOf(ctx, s, p)
	if err != nil {
		return nil, err
	}
	counted, err := Recount(ctx, s, p.ConnectionID, p.Stream)
	if err != nil || len(maintained.drifts(counted)) == 0 {
		return nil, err
	}
	var drifts sources.Drifts
	err = s.Tx(ctx, func(q model.Querier) (err error) {
		drifts, err = checkHeld(ctx, q, p, repair)
		return err
	})
	return drifts, err
}

// checkHeld is the same in a transaction, which holds the partition.
func checkHeld(ctx context.Context, q model.Querier, p model.Partition, repair bool) (sources.Drifts, error) {
	rows, err := lockPartitions(ctx, q, Target{OwnerID: p.OwnerID, ConnectionID: p.ConnectionID}, []string{p.Stream})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	maintained, err := maintainedOf(ctx, q, rows[0])
	if err != nil {
		return nil, err
	}
	counted, err := Recount(ctx, q, p.ConnectionID, p.Stream)
	if err != nil {
		return nil, err
	}
	drifts := maintained.drifts(counted)
	if len(drifts) > 0 && repair {
		err = maintained.repair(ctx, q, counted)
	}
	return drifts, err
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
