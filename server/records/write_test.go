package records_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/records"
	"github.com/stint-run/stint/server/sources"
	"github.com/stint-run/stint/server/store"
)

func TestSamePayloadInAnotherSpellingMakesNoVersion(t *testing.T) {
	each(t, func(f *fixture) {
		f.wrote(1, 0, `{"stream":"notes","data":{"id":"a","n":1.0,"in":{"x":[1,2],"y":"ü"}}}`)
		f.wrote(0, 1, `{"stream":"notes","data":{ "in" : {"y":"\u00fc","x":[1, 2.0]}, "n":1, "id":"a" }}`)
		before := f.record("notes", "a")
		f.wrote(1, 0, `{"stream":"notes","data":{"id":"a","n":1.0,"in":{"x":[1,3],"y":"ü"}}}`)
		after := f.record("notes", "a")
		if before.Version != 1 || after.Version != 2 || after.ID != before.ID || after.Seq != 2 || after.FirstSeq != 1 {
			f.Errorf("%+v became %+v", before, after)
		}
		if kept := f.count("record_versions", "version = 1 and seq = 1 and superseded_seq = 2"); kept != 1 {
			f.Errorf("%d versions are kept", kept)
		}
	})
}

func TestDeletedRecordHasOneTombstoneAndComesBackWithItsID(t *testing.T) {
	each(t, func(f *fixture) {
		const data = `{"stream":"notes","data":{"id":"a","text":"x"}}`
		f.wrote(1, 0, data)
		first := f.record("notes", "a")
		f.wrote(1, 0, `{"stream":"notes","op":"delete","key":"a"}`)
		f.wrote(0, 1, `{"stream":"notes","op":"delete","data":{"id":"a"}}`)
		f.wrote(0, 1, `{"stream":"notes","op":"delete","key":"never"}`)
		if gone := f.record("notes", "a"); !gone.Deleted || gone.Version != 2 || gone.Data != first.Data {
			f.Errorf("%+v became %+v", first, gone)
		}
		f.wrote(1, 0, data)
		if back := f.record("notes", "a"); back.Deleted || back.Version != 3 || back.ID != first.ID || back.FirstSeq != 1 {
			f.Errorf("%+v came back as %+v", first, back)
		}
		if n := f.count("record_versions", "true"); n != 2 {
			f.Errorf("%d versions are kept, want the first and the tombstone", n)
		}
	})
}

func TestKeyThatComesSeveralTimesInAChunkHasAVersionEachTime(t *testing.T) {
	each(t, func(f *fixture) {
		f.wrote(1, 0, `{"stream":"notes","data":{"id":"old","v":0}}`)
		f.wrote(7, 2,
			`{"stream":"notes","data":{"id":"new","v":1}}`,
			`{"stream":"notes","data":{"id":"new","v":1.0}}`,
			`{"stream":"notes","data":{"id":"new","v":2}}`,
			`{"stream":"notes","op":"delete","key":"new"}`,
			`{"stream":"notes","op":"delete","key":"new"}`,
			`{"stream":"notes","data":{"id":"new","v":3}}`,
			`{"stream":"notes","op":"delete","key":"old"}`,
			`{"stream":"notes","data":{"id":"old","v":9}}`,
			`{"stream":"notes","op":"delete","key":"old"}`,
		)
		got := dbtest.Get[string](f.T, f.Store, map[string]string{
			store.SQLite:   `select group_concat(x, ' ') from (select version || (case deleted when 1 then 'd' else '' end) || ':' || (data ->> '$.v') || '@' || seq || '-' || superseded_seq as x from record_versions where connection_id = ?1 order by version)`,
			store.Postgres: `select string_agg(version || (case when deleted then 'd' else '' end) || ':' || (data ->> 'v') || '@' || seq || '-' || superseded_seq, ' ' order by version) from record_versions where connection_id = $1`,
		}[f.Store.Engine()], f.connection)
		if want := "1:0@1-6 2:1@2-3 3:2@3-4 4d:2@4-5 6d:0@6-7 7:9@7-8"; got != want {
			f.Errorf("versions are\n%s, want\n%s", got, want)
		}
		if r := f.record("notes", "new"); r.Version != 5 || r.Data != `{"id":"new","v":3}` || r.FirstSeq != 2 || r.Seq != 5 {
			f.Errorf("new is %+v", r)
		}
		if r := f.record("notes", "old"); r.Version != 8 || r.Data != `{"id":"old","v":9}` || r.FirstSeq != 1 || !r.Deleted {
			f.Errorf("old is %+v", r)
		}
		f.recount()
	})
}

func TestBadLineIsRefusedAlone(t *testing.T) {
	tests := []struct{ text, code string }{
		{`{"stream":"notes","data":{"id":"a"}}`, ""},
		{`not JSON`, records.InvalidJSON},
		{`{"stream":"nothing","data":{"id":"a"}}`, records.UnknownStream},
		{`{"data":{"id":"a"}}`, records.UnknownStream},
		{`{"stream":"notes","data":{"key":"a"}}`, records.KeyMissing},
		{`{"stream":"notes","data":{"id":null}}`, records.KeyMissing},
		{`{"stream":"notes","data":{"id":[1]}}`, records.KeyMissing},
		{`{"stream":"notes","data":{"id":""}}`, records.KeyMissing},
		{`{"stream":"notes","op":"delete"}`, records.KeyMissing},
		{`{"stream":"notes","key":"b","data":{"id":"a"}}`, records.KeyMismatch},
		{`{"stream":"notes","key":"b","data":{"id":"b"}}`, ""},
		{`{"stream":"pairs","key":"b","data":{"a":1,"b":2}}`, records.KeyMismatch},
		{`{"stream":"pairs","key":"[ \"1\", \"2\" ]","data":{"a":1,"b":2}}`, ""},
		{`{"stream":"pairs","op":"delete","key":"1,2"}`, records.KeyMismatch},
		{`{"stream":"notes","data":{"id":"` + strings.Repeat("k", 513) + `"}}`, records.KeyTooLong},
		{`{"stream":"notes","data":{"id":"` + strings.Repeat("k", 512) + `"}}`, ""},
		{`{"stream":"notes"}`, records.InvalidRecord},
		{`{"stream":"notes","data":[1]}`, records.InvalidRecord},
		{`{"stream":"notes","op":"replace","data":{"id":"a"}}`, records.InvalidRecord},
		{`{"stream":"log","data":{"text":"x"}}`, ""},
		{`{"stream":"nothing","checkpoint":1}`, records.UnknownStream},
		{`{"checkpoint":{"all":1}}`, ""},
	}
	each(t, func(f *fixture) {
		var texts []string
		want := map[int64]string{}
		for i, tt := range tests {
			if texts = append(texts, tt.text); tt.code != "" {
				want[int64(i)] = tt.code
			}
		}
		out := f.write(texts...)
		got := map[int64]string{}
		for _, r := range out.Rejected {
			if got[r.Index] = r.Code; r.Detail == "" || r.RejectionID == nil {
				f.Errorf("%s is refused without a word: %+v", texts[r.Index], r)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			f.Errorf("refused lines (-want +got):\n%s", diff)
		}
		if out.Accepted != 5 || out.Checkpoints != 1 {
			f.Errorf("%+v", out)
		}
		f.recount()
	})
}

func TestRecordIsSortedByItsTimeElseByWhenItWasEmitted(t *testing.T) {
	tests := []struct{ line, sortAt, datedBy string }{
		{`"data":{"id":"a","at":"2024-05-06T01:00:00+02:00"},"emitted_at":"2025-01-01T00:00:00Z"`, "2024-05-05T23:00:00.000000Z", records.DatedByData},
		{`"data":{"id":"a"},"emitted_at":"2025-01-01T00:00:00Z"`, "2025-01-01T00:00:00.000000Z", records.DatedByEmittedAt},
		{`"data":{"id":"a","at":0},"emitted_at":"2025-01-01T00:00:00Z"`, "2025-01-01T00:00:00.000000Z", records.DatedByEmittedAt},
		{`"data":{"id":"a","at":"soon"},"emitted_at":"2025-01-01T00:00:00Z"`, "2025-01-01T00:00:00.000000Z", records.DatedByEmittedAt},
		{`"data":{"id":"a","at":"soon"}`, records.Undated.String(), records.DatedByNothing},
		{`"data":{"id":"a","at":""}`, records.Undated.String(), records.DatedByNothing},
		{`"data":{"id":"a"},"emitted_at":"1970-01-01T12:00:00Z"`, records.Undated.String(), records.DatedByNothing},
	}
	each(t, func(f *fixture) {
		for _, tt := range tests {
			f.write(`{"stream":"notes",`+tt.line+`}`, `{"stream":"people",`+tt.line+`}`)
			r := f.record("notes", "a")
			if r.SortAt.String() != tt.sortAt || r.DatedBy != tt.datedBy {
				f.Errorf("%s is at %s by %s, want %s by %s", tt.line, r.SortAt, r.DatedBy, tt.sortAt, tt.datedBy)
			}
			bad := strings.Count(tt.line, "soon")
			if f.count("records", "stream = 'notes' and bad_time") != int64(bad) || f.count("partitions", fmt.Sprintf("stream = 'notes' and bad_time_count = %d", bad)) != 1 {
				f.Errorf("%s: bad times are not %d", tt.line, bad)
			}
			f.write(`{"stream":"notes","op":"delete","key":"a"}`)
			f.recount()
		}
	})
}

func TestRecordCountsForTheDayOfItsTimeInUTC(t *testing.T) {
	each(t, func(f *fixture) {
		for at, day := range map[string]int{"1969-12-29T23:59:59Z": -3, "1969-12-30T00:00:00Z": -2, "1969-12-30T12:00:00Z": -2, "2024-05-06T23:30:00-02:00": 19850} {
			f.connection = f.connect(f.Owner, sources.Active)
			f.write(fmt.Sprintf(`{"stream":"notes","data":{"id":"a","at":%q}}`, at))
			if f.count("day_counts", fmt.Sprintf("day = %d and n = 1", day)) != 1 {
				f.Errorf("%s does not count for the day %d", at, day)
			}
		}
	})
}

func TestCheckpointIsDurableWithItsRecordsAndTheLastOneCounts(t *testing.T) {
	each(t, func(f *fixture) {
		f.write(`{"stream":"notes","checkpoint":{"n":1}}`, `{"checkpoint":7}`, `{"stream":"notes","data":{"id":"a"}}`, `{"stream":"notes","checkpoint":{"n":2}}`)
		if n := f.count("checkpoints", `stream = 'notes' and cast(checkpoint as text) = '{"n":2}'`); n != 1 {
			f.Error("the checkpoint of notes is not the last one of its chunk")
		}
		if out := f.write(`{"stream":"notes","checkpoint":{"n":3}}`); out.Checkpoints != 1 {
			f.Errorf("%+v", out)
		}
		f.faulted(f.Try(func(q model.Querier) error {
			_, err := records.Write(f.Context(), q, f.Now, f.target(), lines(`{"stream":"notes","checkpoint":{"n":4}}`))
			return errors.Join(err, fault.New("internal", "undone"))
		}), "internal")
		if n := f.count("checkpoints", `stream = 'notes' and cast(checkpoint as text) = '{"n":3}'`); n != 1 {
			f.Error("the checkpoint of notes is not the third")
		}
		if n := f.count("checkpoints", `stream = '' and cast(checkpoint as text) = '7' and run_id is null`); n != 1 {
			f.Error("the checkpoint of all streams is not 7, or has a run")
		}
	})
}

// A chunk with all that may be in one: its number of statements is that of its kinds of rows.
func TestChunkTakesAFixedNumberOfStatements(t *testing.T) {
	each(t, func(f *fixture) {
		chunk := func(n int, v string) (texts []string) {
			for i := range n {
				texts = append(texts, fmt.Sprintf(`{"stream":"notes","data":{"id":"old%d","at":"2024-01-%02d","v":%s}}`, i, 1+i%28, v),
					fmt.Sprintf(`{"stream":"log","data":{"at":"2024-02-%02d","v":%s,"i":%d}}`, 1+i%28, v, i))
			}
			return append(texts, `{"stream":"notes","data":{"id":"new`+v+`","at":"2023-01-01"}}`, `{"stream":"notes","op":"delete","key":"first"}`,
				`{"stream":"notes","checkpoint":`+v+`}`, `{"stream":"people","data":{"id":"same"}}`)
		}
		f.write(append(chunk(200, "0"), `{"stream":"notes","data":{"id":"first","at":"2001-01-01"}}`)...)
		for i, n := range []int{1, 200} {
			ctx, stats := store.WithStats(f.Context())
			f.Tx(func(q model.Querier) error {
				_, err := records.Write(ctx, q, f.Now, f.target(), lines(chunk(n, fmt.Sprint(i+1))...))
				return err
			})
			if got := stats.Statements(); got > 16 {
				f.Errorf("%d lines took %d statements", 2*n+4, got)
			}
		}
		f.recount()
	})
}

// The transaction takes what was prepared before it, unless a stream is declared
// otherwise by then: data that change behind Prepare show which.
func TestLinesAreReadBeforeTheTransaction(t *testing.T) {
	each(t, func(f *fixture) {
		c, err := sources.Resolve(f.Context(), f.Store, f.Owner, f.connection)
		if err != nil {
			f.Fatal(err)
		}
		streams, err := sources.Streams(f.Context(), f.Store, f.Owner, c.ConnectorID)
		if err != nil {
			f.Fatal(err)
		}
		for _, tt := range []struct{ key, want string }{{"id", "before"}, {"text", "behind"}} {
			ready, notes := lines(`{"stream":"notes","data":{"id":"before","text":"before"}}`), streams["notes"]
			notes.PrimaryKey = []string{tt.key}
			records.Prepare(ready, map[string]sources.Stream{"notes": notes})
			ready[0].Data = coltype.JSON(`{"id":"behind"}`)
			f.Tx(func(q model.Querier) error {
				_, err := records.Write(f.Context(), q, f.Now, f.target(), ready)
				return err
			})
			if n := f.count("records", "key = '"+tt.want+"'"); n != 1 {
				f.Errorf("prepared by %s: there is no record %s", tt.key, tt.want)
			}
		}
	})
}
