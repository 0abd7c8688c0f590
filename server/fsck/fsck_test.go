package fsck_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fsck"
	"github.com/stint-run/stint/server/id"
	"github.com/stint-run/stint/server/records"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/sources"
	"github.com/stint-run/stint/server/store"
)

// fixture is an owner with a connection whose stream notes has dates.
type fixture struct {
	dbtest.Fixture
	connection string
}

func newFixture(t *testing.T, s *store.Store) *fixture {
	f := &fixture{dbtest.NewFixture(t, s), id.New("conn")}
	ctx, actor := f.Context(), "ada"
	f.Tx(func(q model.Querier) error {
		_, err := q.ConnectorInsert(ctx, model.ConnectorInsertParams{OwnerID: f.Owner, ID: "books", DisplayName: "Books", Manifest: coltype.JSON(`{}`), CreatedAt: f.Now})
		if err == nil {
			_, err = q.StreamInsertMany(ctx, model.StreamInsertManyParams{OwnerID: f.Owner, ConnectorID: "books",
				Rows: fmt.Sprintf(`[{"name":"notes","semantics":"mutable_state","primary_key":"[\"id\"]","time_field":"at","label":"Notes","created_at":%[1]d},
				{"name":"people","semantics":"mutable_state","primary_key":"[\"id\"]","label":"People","created_at":%[1]d}]`, f.Now.UnixMicro())})
		}
		if err == nil {
			_, err = q.ConnectionInsert(ctx, model.ConnectionInsertParams{
				ID: f.connection, OwnerID: f.Owner, ConnectorID: "books", SourceKind: "account", DisplayName: "Books", Status: sources.Active, Actor: &actor, CreatedAt: f.Now,
			})
		}
		if err == nil {
			err = q.HeadInsert(ctx, model.HeadInsertParams{ConnectionID: f.connection, OwnerID: f.Owner, UpdatedAt: f.Now})
		}
		return err
	})
	return f
}

var _, eachWhole = dbtest.EachOf(newFixture)

// write writes records of notes, and one line that is refused.
func (f *fixture) write(from, to int) error {
	var lines []records.Line
	for i := from; i < to; i++ {
		data := fmt.Sprintf(`{"id":%d,"at":"2024-05-%02d"}`, i, 1+i%28)
		lines = append(lines, records.Line{Index: int64(i), Raw: []byte(data), Size: int64(len(data)), Stream: "notes", Op: records.Upsert, Data: coltype.JSON(data)})
	}
	bad := fmt.Sprintf("{%d", from)
	lines = append(lines, records.Line{Raw: []byte(bad), Size: int64(len(bad)), Refused: &records.Refusal{Code: records.InvalidJSON, Detail: "broken"}})
	return f.Try(func(q model.Querier) error {
		_, err := records.Write(f.Context(), q, f.Now, records.Target{OwnerID: f.Owner, ConnectionID: f.connection}, lines)
		return err
	})
}

// writeOdd writes records without a date, with a bad time, and one more that is
// deleted, and refuses a line that is too long to be kept with its bytes.
func (f *fixture) writeOdd() {
	var lines []records.Line
	for _, data := range []string{`{"id":"undated"}`, `{"id":"bad","at":"soon"}`, `{"id":"gone","at":"soon"}`} {
		lines = append(lines, records.Line{Raw: []byte(data), Size: int64(len(data)), Stream: "notes", Op: records.Upsert, Data: coltype.JSON(data)})
	}
	lines = append(lines, records.Line{Stream: "notes", Op: records.Delete, Key: "gone"},
		records.Line{Size: 5 << 20, Refused: &records.Refusal{Code: records.LineTooLarge, Detail: "long"}})
	f.Tx(func(q model.Querier) error {
		_, err := records.Write(f.Context(), q, f.Now, records.Target{OwnerID: f.Owner, ConnectionID: f.connection}, lines)
		return err
	})
}

// run starts and ends a run of the connection.
func (f *fixture) run(status string) {
	f.Tx(func(q model.Querier) error {
		started, err := sources.Start(f.Context(), q, f.Now, sources.StartIn{OwnerID: f.Owner, Connection: f.connection, Kind: "manual", LeaseSeconds: 60})
		if err == nil && status != runs.Running {
			_, err = sources.Finish(f.Context(), q, f.Now, sources.FinishIn{OwnerID: f.Owner, RunID: started.Run.ID, Generation: *started.Run.Generation, Status: status})
		}
		return err
	})
}

func (f *fixture) fsck(repair bool) fsck.Report {
	f.Helper()
	report, err := fsck.Run(f.Context(), f.Store, repair)
	if err != nil {
		f.Fatal(err)
	}
	return report
}

// figures are the figures of what was found, sorted.
func figures(r fsck.Report) []string {
	var out []string
	for _, finding := range r.Findings {
		out = append(out, finding.Figure)
	}
	slices.Sort(out)
	return out
}

func TestEveryDriftIsNamedAndRepaired(t *testing.T) {
	eachWhole(t, func(f *fixture) {
		if err := f.write(0, 100); err != nil {
			f.Fatal(err)
		}
		f.writeOdd()
		for _, status := range []string{runs.Succeeded, runs.Failed, runs.Running} {
			f.run(status)
		}
		if r := f.fsck(false); len(r.Findings) > 0 || r.Connections != 1 || r.Partitions != 1 || r.Owners != 1 {
			f.Fatalf("of a sound database: %+v", r)
		}
		drifts := map[string]string{ // the figure that a statement makes wrong
			"partitions.live_count":             "update partitions set live_count = live_count + 1 where owner_id = $1",
			"partitions.undated_count":          "update partitions set undated_count = undated_count + 1 where owner_id = $1",
			"partitions.bad_time_count":         "update partitions set bad_time_count = bad_time_count + 1 where owner_id = $1",
			"partitions.min_sort_at":            "update partitions set min_sort_at = null where owner_id = $1",
			"partitions.max_sort_at":            "update partitions set max_sort_at = min_sort_at where owner_id = $1",
			"partitions.version":                "update partitions set version = version - 1, floor_version = 0 where owner_id = $1",
			"partitions.last_seq":               "update partitions set last_seq = last_seq - 1 where owner_id = $1",
			"day_counts 2024-05-03":             "update day_counts set n = n + 1 where owner_id = $1 and day = 19846",
			"day_counts 2024-05-05":             "delete from day_counts where owner_id = $1 and day = 19848",
			"day_counts 2024-06-30":             "insert into day_counts (owner_id, day, connection_id, stream, n) select owner_id, 19904, connection_id, stream, 3 from partitions where owner_id = $1",
			"connection_heads.active_run_id":    "update connection_heads set active_run_id = null where owner_id = $1",
			"connection_heads.latest_run_id":    "update connection_heads set latest_run_id = settled_run_id where owner_id = $1",
			"connection_heads.settled_run_id":   "update connection_heads set settled_run_id = null where owner_id = $1",
			"connection_heads.succeeded_run_id": "update connection_heads set succeeded_run_id = 'run_x' where owner_id = $1",
			"connection_heads.rejected_count":   "update connection_heads set rejected_count = rejected_count + 2 where owner_id = $1",
			"owner_seq.seq":                     "update owner_seq set seq = seq - 50 where owner_id = $1",
			"owner_seq.rejected_count":          "update owner_seq set rejected_count = 0 where owner_id = $1",
			"owner_seq.rejected_bytes":          "update owner_seq set rejected_bytes = rejected_bytes + 7 where owner_id = $1",
			"connection_heads":                  "delete from connection_heads where owner_id = $1",
			"partitions":                        "delete from partitions where owner_id = $1",
			"owner_seq":                         "delete from owner_seq where owner_id = $1",
		}
		for figure, statement := range drifts {
			dbtest.SQL(f.T, f.Store, statement, f.Owner)
			if got := figures(f.fsck(false)); !slices.Contains(got, figure) || len(got) > 1 && figure != "connection_heads" {
				f.Errorf("%s: found %v", statement, got)
			}
			f.fsck(true)
			if got := figures(f.fsck(false)); len(got) > 0 {
				f.Errorf("%s: %v is left after the repair", statement, got)
			}
		}
		if err := f.write(0, 200); err != nil { // of records that are there, and new ones
			f.Errorf("after the repairs: %v", err)
		}
	})
}

// Without its sequence an owner's records could not be changed any more.
func TestMissingSequenceIsFoundAndMadeAnew(t *testing.T) {
	eachWhole(t, func(f *fixture) {
		if err := f.write(0, 20); err != nil {
			f.Fatal(err)
		}
		dbtest.SQL(f.T, f.Store, "delete from owner_seq where owner_id = $1", f.Owner)
		if got := figures(f.fsck(true)); !slices.Contains(got, "owner_seq") {
			f.Errorf("found %v", got)
		}
		if got := figures(f.fsck(false)); len(got) > 0 {
			f.Errorf("%v is left after the repair", got)
		}
		f.Tx(func(q model.Querier) error {
			line := records.Line{Stream: "notes", Op: records.Delete, Key: "3"}
			out, err := records.Write(f.Context(), q, f.Now, records.Target{OwnerID: f.Owner, ConnectionID: f.connection}, []records.Line{line})
			if err == nil && out.Accepted != 1 {
				f.Errorf("%+v", out)
			}
			return err
		})
	})
}

// The sequence of an owner is held against all of the owner's partitions.
func TestSequenceIsBehindNoPartition(t *testing.T) {
	eachWhole(t, func(f *fixture) {
		const data = `{"id":"a"}`
		f.Tx(func(q model.Querier) error {
			_, err := records.Write(f.Context(), q, f.Now, records.Target{OwnerID: f.Owner, ConnectionID: f.connection},
				[]records.Line{{Raw: []byte(data), Size: int64(len(data)), Stream: "people", Op: records.Upsert, Data: coltype.JSON(data)}})
			return err
		})
		if err := f.write(0, 5); err != nil {
			f.Fatal(err)
		}
		dbtest.SQL(f.T, f.Store, "update owner_seq set seq = 3 where owner_id = $1", f.Owner)
		if seen := f.fsck(false); len(seen.Findings) != 1 || seen.Findings[0].Repaired {
			f.Errorf("without a repair: %+v", seen)
		}
		if got := f.fsck(true); !slices.Equal(figures(got), []string{"owner_seq.seq"}) || !got.Findings[0].Repaired || dbtest.Get[int](f.T, f.Store, "select seq from owner_seq where owner_id = $1", f.Owner) != 6 {
			f.Errorf("found %+v", got)
		}
	})
}

func TestNoDriftIsReportedThatWritersMakeMeanwhile(t *testing.T) {
	eachWhole(t, func(f *fixture) {
		var writers sync.WaitGroup
		for w := range 3 {
			writers.Go(func() {
				for i := range 8 {
					if err := f.write(1000*w+10*i, 1000*w+10*i+20); err != nil {
						f.Error(err)
					}
				}
			})
		}
		done := make(chan struct{})
		go func() { writers.Wait(); close(done) }()
		for runs := 0; ; runs++ {
			if r := f.fsck(false); len(r.Findings) > 0 {
				f.Errorf("run %d: %s", runs, strings.Join(figures(r), ", "))
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
}

// The latest run is the one that began last, whatever the clock said meanwhile.
func TestRunsAfterAClockWasSetBackAreTheLatest(t *testing.T) {
	eachWhole(t, func(f *fixture) {
		f.run(runs.Succeeded)
		f.Now = f.Now.Add(-time.Hour)
		f.run(runs.Succeeded)
		if got := figures(f.fsck(false)); len(got) > 0 {
			f.Errorf("found %v", got)
		}
	})
}

// What is half removed with its connection is no drift, nor is it repaired.
func TestConnectionThatIsBeingRemovedHasNoDrift(t *testing.T) {
	eachWhole(t, func(f *fixture) {
		if err := f.write(0, 100); err != nil {
			f.Fatal(err)
		}
		f.Tx(func(q model.Querier) error {
			_, err := sources.Delete(f.Context(), q, f.Now, f.Owner, f.connection, "ada")
			return err
		})
		dbtest.SQL(f.T, f.Store, "delete from records where owner_id = $1 and version > 40", f.Owner)
		for _, gone := range []string{"day_counts", "partitions"} {
			if got := figures(f.fsck(true)); len(got) > 0 {
				f.Errorf("found %v", got)
			}
			dbtest.SQL(f.T, f.Store, "delete from "+gone+" where owner_id = $1", f.Owner)
		}
		if got := figures(f.fsck(true)); len(got) > 0 {
			f.Errorf("found %v", got)
		}
	})
}

// A row of heads that is mended has changed now, and one that is only looked at has not.
func TestOnlyARepairWrites(t *testing.T) {
	eachWhole(t, func(f *fixture) {
		const heads = "select revision || ' ' || updated_at from connection_heads where connection_id = $1"
		before := dbtest.Get[string](f.T, f.Store, heads, f.connection)
		for _, column := range []string{"rejected_count", "latest_run_id"} {
			dbtest.SQL(f.T, f.Store, "update connection_heads set "+column+" = '7' where connection_id = $1", f.connection)
		}
		f.fsck(false)
		if after := dbtest.Get[string](f.T, f.Store, heads, f.connection); after != before {
			f.Errorf("the heads are %s, were %s", after, before)
		}
		if n := dbtest.Get[int64](f.T, f.Store, "select count(*) from owner_seq where owner_id = $1", f.Owner); n != 0 {
			f.Error("an owner without numbers has some")
		}
		dbtest.SQL(f.T, f.Store, "update connection_heads set updated_at = created_at from connections where id = connection_id and connection_id = $1", f.connection)
		f.fsck(true)
		if n := dbtest.Get[int64](f.T, f.Store, "select count(*) from connection_heads where connection_id = $1 and updated_at > $2", f.connection, f.Now); n != 1 {
			f.Error("the heads that were mended are as old as before")
		}
	})
}

// Who only looks waits for no writer, and no writer for it: not for one either that
// holds the partition all the time.
func TestDriftIsFoundWhileAWriterHoldsThePartition(t *testing.T) {
	eachWhole(t, func(f *fixture) {
		if err := f.write(0, 10); err != nil {
			f.Fatal(err)
		}
		dbtest.SQL(f.T, f.Store, "update partitions set live_count = 9 where owner_id = $1", f.Owner)
		f.Tx(func(q model.Querier) error {
			rows := fmt.Sprintf(`[{"connection_id":"%s","stream":"notes"}]`, f.connection)
			if _, err := q.PartitionLockMany(f.Context(), model.PartitionLockManyParams{Rows: rows, OwnerID: f.Owner}); err != nil {
				return err
			}
			if got := figures(f.fsck(false)); !slices.Equal(got, []string{"partitions.live_count"}) {
				f.Errorf("found %v", got)
			}
			return nil
		})
	})
}
