package records

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
)

// writer writes the sets of rows of one chunk, an empty one by no statement. After
// an error it does nothing.
type writer struct {
	ctx  context.Context // of the one call of write
	q    model.Querier
	now  coltype.Time
	held *held
	err  error
}

// put has a statement write rows.
func put[T any](w *writer, rows []T, statement func(text string) (int64, error)) {
	if w.err != nil || len(rows) == 0 {
		return
	}
	text, err := json.Marshal(rows)
	if err == nil {
		_, err = statement(string(text))
	}
	w.err = err
}

// versions keeps what the chunk supersedes, before the rows change.
func (w *writer) versions(f *fold) {
	put(w, f.kept, func(text string) (int64, error) {
		return w.q.VersionKeep(w.ctx, model.VersionKeepParams{Now: w.now, Rows: text, OwnerID: w.held.ownerID})
	})
	put(w, f.between, func(text string) (int64, error) {
		return w.q.VersionInsertMany(w.ctx, model.VersionInsertManyParams{
			ConnectionID: w.held.connectionID, OwnerID: w.held.ownerID, Now: w.now, Rows: text,
		})
	})
}

func (w *writer) records(f *fold) {
	var added, set []recordRow
	for _, r := range f.changed {
		if r.stored {
			set = append(set, r.row(w.now))
		} else {
			added = append(added, r.row(w.now))
		}
	}
	put(w, added, func(text string) (int64, error) {
		return w.q.RecordInsertMany(w.ctx, model.RecordInsertManyParams{
			OwnerID: w.held.ownerID, ConnectionID: w.held.connectionID, Now: w.now, Rows: text,
		})
	})
	put(w, set, func(text string) (int64, error) {
		return w.q.RecordSetMany(w.ctx, model.RecordSetManyParams{Now: w.now, OwnerID: w.held.ownerID, Rows: text})
	})
}

// seen marks the records that a refresh saw and that do not change.
func (w *writer) seen(f *fold) {
	for generation, ids := range seenOf(f) {
		put(w, ids, func(text string) (int64, error) {
			return w.q.RecordSetSeen(w.ctx, model.RecordSetSeenParams{Generation: generation, Ids: text, OwnerID: w.held.ownerID})
		})
	}
}

// seenOf are the ids of records that a refresh saw and that did not change, by the
// generation of the refresh: a connection rarely has two.
func seenOf(f *fold) map[int64][]string {
	out := map[int64][]string{}
	for _, r := range f.marked {
		if !r.changed {
			out[r.seen] = append(out[r.seen], r.id)
		}
	}
	return out
}

// days writes the counts of days that changed. The partitions are held, so nobody
// else writes them.
func (w *writer) days() {
	var rows []dayRow
	for _, p := range w.held.partitions {
		rows = append(rows, p.dayRows()...)
	}
	put(w, rows, func(text string) (int64, error) {
		return w.q.DayCountAddMany(w.ctx, model.DayCountAddManyParams{OwnerID: w.held.ownerID, ConnectionID: w.held.connectionID, Rows: text})
	})
}

// partitions writes the figures of the partitions that changed.
func (w *writer) partitions() {
	var rows []partitionRow
	var seek []partitionKey
	for _, p := range w.held.partitions {
		if !p.changed {
			continue
		}
		p.settle()
		rows = append(rows, p.row())
		if p.seek {
			seek = append(seek, p.key())
		}
	}
	put(w, rows, func(text string) (int64, error) {
		return w.q.PartitionSetMany(w.ctx, model.PartitionSetManyParams{Now: w.now, OwnerID: w.held.ownerID, Rows: text})
	})
	put(w, seek, func(text string) (int64, error) {
		return w.q.PartitionSetTimes(w.ctx, model.PartitionSetTimesParams{Undated: Undated, OwnerID: w.held.ownerID, Rows: text})
	})
}

func (p *partition) key() partitionKey { return partitionKey{p.ConnectionID, p.Stream} }

func (p *partition) row() partitionRow {
	return partitionRow{
		partitionKey: p.key(), Version: p.Version, LiveCount: p.LiveCount, UndatedCount: p.UndatedCount, BadTimeCount: p.BadTimeCount,
		MinSortAt: micros(p.MinSortAt), MaxSortAt: micros(p.MaxSortAt), LastSeq: p.LastSeq,
	}
}

// dayRows are the counts of days that change, in the order of days.
func (p *partition) dayRows() (rows []dayRow) {
	for day, n := range p.days {
		if n != 0 {
			rows = append(rows, dayRow{p.Stream, day, n})
		}
	}
	slices.SortFunc(rows, func(a, b dayRow) int { return cmp.Compare(a.Day, b.Day) })
	return rows
}
