package records

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
)

// held are partitions of a connection that the transaction holds.
type held struct {
	ownerID, connectionID string
	partitions            map[string]*partition // by stream
}

// partition is a partition with what the chunk changes of it.
type partition struct {
	model.Partition
	changed bool
	seek    bool            // an end of its range of times went away
	days    map[int64]int64 // by day, how many more or fewer
}

// hold locks the partitions of the streams, which are sorted, and makes those
// that the connection does not have yet.
func hold(ctx context.Context, q model.Querier, now coltype.Time, to Target, streams []string) (*held, error) {
	rows, err := lockPartitions(ctx, q, to, streams)
	if err == nil && len(rows) < len(streams) {
		if err = insertPartitions(ctx, q, now, to, streams); err == nil {
			rows, err = lockPartitions(ctx, q, to, streams)
		}
	}
	if err == nil && len(rows) < len(streams) {
		err = fmt.Errorf("%d of %d are there", len(rows), len(streams))
	}
	if err != nil {
		return nil, fmt.Errorf("hold partitions: %w", err)
	}
	return holding(to.OwnerID, to.ConnectionID, rows), nil
}

func lockPartitions(ctx context.Context, q model.Querier, to Target, streams []string) ([]model.Partition, error) {
	keys := make([]partitionKey, len(streams))
	for i, stream := range streams {
		keys[i] = partitionKey{to.ConnectionID, stream}
	}
	text, err := json.Marshal(keys)
	if err != nil {
		return nil, err
	}
	return q.PartitionLockMany(ctx, model.PartitionLockManyParams{Rows: string(text), OwnerID: to.OwnerID})
}

func insertPartitions(ctx context.Context, q model.Querier, now coltype.Time, to Target, streams []string) error {
	text, err := json.Marshal(streams)
	if err != nil {
		return err
	}
	_, err = q.PartitionInsertMany(ctx, model.PartitionInsertManyParams{
		ConnectionID: to.ConnectionID, OwnerID: to.OwnerID, Now: now, Streams: string(text),
	})
	return err
}

// holding is what rows that are locked are as held.
func holding(ownerID, connectionID string, rows []model.Partition) *held {
	h := &held{ownerID: ownerID, connectionID: connectionID, partitions: map[string]*partition{}}
	for _, row := range rows {
		h.partitions[row.Stream] = &partition{Partition: row, days: map[int64]int64{}}
	}
	return h
}

// count counts a version in that becomes the present one, or, by -1, out.
func (p *partition) count(c content, by int64) {
	p.LiveCount += by
	if c.badTime {
		p.BadTimeCount += by
	}
	if !c.dated() {
		p.UndatedCount += by
		return
	}
	p.days[day(c.sortAt)] += by
	if by > 0 {
		p.widen(c.sortAt)
	} else if c.sortAt.Equal(p.MinSortAt) || c.sortAt.Equal(p.MaxSortAt) {
		p.seek = true
	}
}

func (p *partition) widen(at coltype.Time) {
	if p.MinSortAt.IsZero() || at.Before(p.MinSortAt) {
		p.MinSortAt = at
	}
	if p.MaxSortAt.IsZero() || at.After(p.MaxSortAt) {
		p.MaxSortAt = at
	}
}

// settle ends the counting: without a dated record there is no range to look for.
func (p *partition) settle() {
	if p.LiveCount == p.UndatedCount {
		p.MinSortAt, p.MaxSortAt, p.seek = coltype.Time{}, coltype.Time{}, false
	}
}

// day is the number of the day since 1970-01-01, in UTC.
func day(at coltype.Time) int64 {
	const seconds = 24 * 60 * 60
	s := at.Unix()
	if s < 0 {
		s -= seconds - 1
	}
	return s / seconds
}

// generation is the one that a full refresh of the partition marks records with;
// 0 if there is none.
func (p *partition) generation() int64 {
	if p.RefreshGeneration == nil {
		return 0
	}
	return *p.RefreshGeneration
}
