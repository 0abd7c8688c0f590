package records

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
)

// slice is how many rows a recount reads at a time.
const slice = 5000

// Figures are what is maintained of a partition, made anew from its records.
type Figures struct {
	Live, Undated, BadTimes int64
	Min, Max                coltype.Time    // of the live records with a date; zero: none
	Days                    map[int64]int64 // live records by day since 1970-01-01
	Version, Seq            int64           // the highest, of deleted records too
}

// Recount makes the figures of a partition from its records, in slices. Writers
// that come meanwhile may or may not be counted: figures are exact only while the
// caller holds the partition.
func Recount(ctx context.Context, q model.Reader, connectionID, stream string) (Figures, error) {
	f := Figures{Days: map[int64]int64{}}
	after := ""
	for {
		rows, err := q.RecordWalkFigures(ctx, model.RecordWalkFiguresParams{ConnectionID: connectionID, Stream: stream, AfterKey: after, Max: slice})
		if err != nil {
			return f, fmt.Errorf("recount %s of %s: %w", stream, connectionID, err)
		}
		for _, r := range rows {
			f.count(r)
			after = r.Key
		}
		if len(rows) < slice {
			return f, nil
		}
	}
}

func (f *Figures) count(r model.RecordWalkFiguresRow) {
	f.Version, f.Seq = max(f.Version, r.Version), max(f.Seq, r.Seq)
	if !r.DeletedAt.IsZero() {
		return
	}
	f.Live++
	if r.BadTime {
		f.BadTimes++
	}
	if r.DatedBy == DatedByNothing {
		f.Undated++
		return
	}
	f.Days[day(r.SortAt)]++
	if f.Min.IsZero() || r.SortAt.Before(f.Min) {
		f.Min = r.SortAt
	}
	if f.Max.IsZero() || r.SortAt.After(f.Max) {
		f.Max = r.SortAt
	}
}
