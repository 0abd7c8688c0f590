package records

import (
	"github.com/stint-run/stint/schema/coltype"
)

// recordRow is one element of the @rows of RecordInsertMany and RecordSetMany;
// times are in microseconds.
type recordRow struct {
	ID             string  `json:"id"`
	Stream         string  `json:"stream"`
	Key            string  `json:"key"`
	Data           *string `json:"data"`
	Hash           string  `json:"hash"`
	Search         *string `json:"search"`
	EmittedAt      *int64  `json:"emitted_at"`
	SortAt         int64   `json:"sort_at"`
	DatedBy        string  `json:"dated_by"`
	BadTime        bool    `json:"bad_time"`
	FirstSeq       int64   `json:"first_seq"`
	Seq            int64   `json:"seq"`
	Version        int64   `json:"version"`
	SeenGeneration int64   `json:"seen_generation"`
	DeletedAt      *int64  `json:"deleted_at"`
}

// versionRow is one element of VersionInsertMany's @rows.
type versionRow struct {
	Stream        string  `json:"stream"`
	Version       int64   `json:"version"`
	RecordID      string  `json:"record_id"`
	Key           string  `json:"key"`
	Data          *string `json:"data"`
	Search        *string `json:"search"`
	EmittedAt     *int64  `json:"emitted_at"`
	SortAt        int64   `json:"sort_at"`
	DatedBy       string  `json:"dated_by"`
	Deleted       bool    `json:"deleted"`
	Seq           int64   `json:"seq"`
	SupersededSeq int64   `json:"superseded_seq"`
}

// keptRow is one element of VersionKeep's @rows.
type keptRow struct {
	ID            string `json:"id"`
	SupersededSeq int64  `json:"superseded_seq"`
}

// partitionKey is one element of the @rows of PartitionLockMany and
// PartitionSetTimes.
type partitionKey struct {
	ConnectionID string `json:"connection_id"`
	Stream       string `json:"stream"`
}

// partitionRow is one element of PartitionSetMany's @rows.
type partitionRow struct {
	partitionKey
	Version      int64  `json:"version"`
	LiveCount    int64  `json:"live_count"`
	UndatedCount int64  `json:"undated_count"`
	BadTimeCount int64  `json:"bad_time_count"`
	MinSortAt    *int64 `json:"min_sort_at"`
	MaxSortAt    *int64 `json:"max_sort_at"`
	LastSeq      int64  `json:"last_seq"`
}

// dayRow is one element of DayCountAddMany's @rows.
type dayRow struct {
	Stream string `json:"stream"`
	Day    int64  `json:"day"`
	N      int64  `json:"n"`
}

func (r *record) row(now coltype.Time) recordRow {
	row := recordRow{
		ID: r.id, Stream: r.stream, Key: r.key, Hash: r.hash, EmittedAt: micros(r.emittedAt), SortAt: r.sortAt.UnixMicro(),
		DatedBy: r.datedBy, BadTime: r.badTime, FirstSeq: r.firstSeq, Seq: r.seq, Version: r.version, SeenGeneration: r.seen,
	}
	row.Data, row.Search = r.texts()
	if r.deleted {
		row.DeletedAt = micros(now)
	}
	return row
}

func (r *record) versionRow(supersededSeq int64) versionRow {
	row := versionRow{
		Stream: r.stream, Version: r.version, RecordID: r.id, Key: r.key, EmittedAt: micros(r.emittedAt), SortAt: r.sortAt.UnixMicro(),
		DatedBy: r.datedBy, Deleted: r.deleted, Seq: r.seq, SupersededSeq: supersededSeq,
	}
	row.Data, row.Search = r.texts()
	return row
}

// texts are nil for a record whose data were not brought.
func (c content) texts() (data, search *string) {
	if c.data == nil {
		return nil, nil
	}
	text := string(c.data)
	return &text, &c.search
}

// micros is a time as rows carry it; nil for none.
func micros(at coltype.Time) *int64 {
	if at.IsZero() {
		return nil
	}
	us := at.UnixMicro()
	return &us
}
