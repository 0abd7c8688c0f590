package records_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/records"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/sources"
	"github.com/stint-run/stint/server/store"
)

const mixed = `{"stream":"notes","data":{"id":"a"}}` + "\n\n" + `{"stream":"notes","data":{"id":"a","text":"t"}}` + "\n" +
	`{"stream":"guests","data":{"id":"a"}}` + "\n" + `{"stream":"notes","data":{"id":"a","text":"t"}}` + "\n" +
	`{"stream":"notes","checkpoint":1}` + "\n" + `{"stream":"notes","op":"delete","key":"a"}` + "\n"

var mixedAnswer = map[string]string{"accepted": "3", "unchanged": "1", "checkpoints": "1", "rejected_count": "1", "rejected.0.index": "3", "lines": "6"}

// A batch of which a sender dies behind any line is resumed there, and each line has
// its effect once; the answer is that of a batch that was never broken off.
func TestBatchIsResumedBehindEachLine(t *testing.T) {
	each(t, func(f *fixture) {
		whole := f.sendBatch(f.api(1, nil), "?batch_id=whole", mixed)
		f.answered(whole, 200, mixedAnswer)
		for k := range 5 {
			f.connection = f.connect(f.Owner, sources.Active)
			chunks := 0
			dies := f.api(1, func(records.Tally) {
				if chunks++; chunks > k {
					panic("the process ends")
				}
			})
			f.answered(f.sendBatch(dies, "?batch_id=b", mixed), 500, nil)
			f.answered(f.sendBatch(dies, "?batch_id=b", mixed), 409, map[string]string{"code": "batch_in_progress", "retryable": "true", "retry_after_ms": "15000"})
			f.Pass(records.BatchLease)
			f.answered(f.sendBatch(f.api(1, nil), "?batch_id=b", mixed), 200, mixedAnswer)
			if n := f.count("record_versions", "true"); n != 2 {
				f.Errorf("after %d lines: %d versions were superseded, want 2", k+1, n)
			}
			f.recount()
		}
	})
}

// Once accepted, a batch has its answer byte for byte, and nothing is written any
// more, whatever became of the connection.
func TestAcceptedBatchIsReplayed(t *testing.T) {
	each(t, func(f *fixture) {
		c := f.api(1000, nil)
		first := f.sendBatch(c, "?batch_id=b&device=laptop", mixed)
		f.answered(first, 200, mixedAnswer)
		f.answered(first, 200, map[string]string{"batch.id": "b", "batch.state": "accepted", "batch.device": "laptop"})
		if got := dbtest.Get[string](f.T, f.Store, "select last_batch_id from connection_devices where connection_id = $1 and device = 'laptop'", f.connection); got != "b" {
			f.Errorf("the device's last batch is %q", got)
		}
		if n := f.count("record_rejections", "batch_id = 'b' and run_id is null"); n != 1 {
			f.Error("the line that was refused does not name its batch")
		}
		f.write(`{"stream":"notes","data":{"id":"a","text":"later"}}`)
		f.revoke()
		for _, body := range []string{mixed, compressed(mixed)} {
			coding := ""
			if body != mixed {
				coding = "gzip"
			}
			again := f.send(c, "?batch_id=b&device=laptop", body, "Content-SHA256", hashOf(mixed), "Content-Encoding", coding)
			if again.Status != 200 || string(again.Body) != string(first.Body) || first.Header.Get("Idempotent-Replayed")+again.Header.Get("Idempotent-Replayed") != "true" {
				f.Errorf("the replay is %s, and was %s", again, first)
			}
		}
		if r := f.record("notes", "a"); !strings.Contains(r.Data, "later") || r.Deleted {
			f.Errorf("the replay wrote %+v", r)
		}
		for query, other := range map[string]string{"?batch_id=b&device=laptop": "body", "?batch_id=b": "device", "?batch_id=b&device=laptop&run_id=run_x&generation=1": "run"} {
			body := mixed
			if other == "body" {
				body = notes(0, 1)
			}
			got := f.sendBatch(c, query, body)
			f.answered(got, 409, map[string]string{"code": "batch_conflict", "state": "accepted", "detail": "The connection has a batch of this id with another " + other + "."})
		}
		f.answered(f.sendBatch(c, "?batch_id=new", notes(0, 1)), 409, map[string]string{"code": "connection_revoked"})
	})
}

func (f *fixture) revoke() {
	f.Helper()
	f.Tx(func(q model.Querier) error {
		_, err := sources.Move(f.Context(), q, f.Now, sources.MoveIn{OwnerID: f.Owner, Selector: f.connection, Actor: "ada", To: sources.Revoked})
		return err
	})
}

// Two replicas that are sent one batch at once write it once: one of them, or the one
// and then the other's repetition, has the answer.
func TestBatchThatTwoSendAtOnceIsWrittenOnce(t *testing.T) {
	each(t, func(f *fixture) {
		body := notes(0, 40)
		clients := []*apitest.Client{f.api(1, nil), f.api(1, nil)}
		var mu sync.Mutex
		var wg sync.WaitGroup
		statuses := map[int]int{}
		for i := range 8 {
			wg.Go(func() {
				got := f.sendBatch(clients[i%2], "?batch_id=b", body)
				mu.Lock()
				defer mu.Unlock()
				if statuses[got.Status]++; got.Status == 409 && got.Str("code") != "batch_in_progress" || got.Status == 200 && fmt.Sprint(got.At("accepted")) != "40" {
					f.Errorf("got %s", got)
				}
			})
		}
		wg.Wait()
		if statuses[200] == 0 || statuses[200]+statuses[409] != 8 {
			f.Errorf("the answers are %v", statuses)
		}
		if n := f.count("records", "version <= 40"); n != 40 {
			f.Errorf("%d records in their first versions", n)
		}
		f.recount()
	})
}

// A sender that was taken over writes nothing more: neither its lines nor the prefix.
func TestSenderThatWasTakenOverWritesNothing(t *testing.T) {
	each(t, func(f *fixture) {
		body := notes(0, 4)
		var other apitest.Answer
		var once sync.Once
		sleeps := f.api(1, func(records.Tally) {
			once.Do(func() {
				f.Pass(records.BatchLease + time.Second)
				other = f.sendBatch(f.api(1, func(records.Tally) { panic("the process ends") }), "?batch_id=b", body)
			})
		})
		f.answered(f.sendBatch(sleeps, "?batch_id=b", body), 409, map[string]string{"code": "batch_in_progress", "durable_lines": "1"})
		f.answered(other, 500, nil)
		if n := f.count("records", "deleted_at is null"); n != 2 {
			f.Errorf("%d records, want the first sender's one and the second's one", n)
		}
		f.Pass(records.BatchLease)
		f.answered(f.sendBatch(f.api(1, nil), "?batch_id=b", body), 200, map[string]string{"accepted": "4", "lines": "4"})
		f.recount()
	})
}

// A run that ends while its batch is written stops it there; the lines before are
// durable, and the batch is the run's for good.
func TestRunThatEndsStopsItsBatch(t *testing.T) {
	each(t, func(f *fixture) {
		var started sources.Started
		f.Tx(func(q model.Querier) (err error) {
			started, err = sources.Start(f.Context(), q, f.Now, sources.StartIn{OwnerID: f.Owner, Connection: f.connection, Kind: "manual", LeaseSeconds: 60})
			return err
		})
		c := f.api(1, func(t records.Tally) {
			if t.Lines == 2 {
				f.Tx(func(q model.Querier) error {
					_, err := sources.Finish(f.Context(), q, f.Now, sources.FinishIn{OwnerID: f.Owner, RunID: started.Run.ID, Generation: *started.Run.Generation, Status: runs.Failed})
					return err
				})
			}
		})
		query := fmt.Sprintf("?batch_id=b&run_id=%s&generation=%d", started.Run.ID, *started.Run.Generation)
		f.answered(f.sendBatch(c, query, notes(0, 4)), 409, map[string]string{"code": "run_not_active", "durable_lines": "2"})
		f.answered(f.sendBatch(c, query, notes(0, 4)), 409, map[string]string{"code": "run_not_active"})
		f.answered(f.sendBatch(c, "?batch_id=b", notes(0, 4)), 409, map[string]string{"code": "batch_conflict", "state": "processing"})
		f.answered(f.sendBatch(c, "?batch_id=b2", notes(0, 4)), 200, map[string]string{"accepted": "2", "unchanged": "2"})
		f.recount()
	})
}

// A connection that is revoked while a batch arrives, an empty one even, leaves no
// trace of it.
func TestBatchOfAConnectionThatIsRevokedMeanwhileIsNotBegun(t *testing.T) {
	each(t, func(f *fixture) {
		c := f.api(1, nil)
		revokes := readerFunc(func(p []byte) (int, error) { f.revoke(); return copy(p, "\n"), io.EOF })
		r, err := http.NewRequestWithContext(f.Context(), "POST", c.Base()+"/v1/connections/"+f.connection+"/records?batch_id=b&device=d", revokes)
		if err != nil {
			f.Fatal(err)
		}
		r.Header = http.Header{"Authorization": {"Bearer stint_ada"}, "Content-Type": {"application/x-ndjson"}, "Content-Sha256": {hashOf("\n")}}
		got, err := c.Do(r)
		if err != nil || got.Str("code") != "connection_revoked" {
			f.Errorf("%s, %v", got, err)
		}
		if devices, batches := f.count("connection_devices", "true"), f.count("ingest_batches", "true"); devices+batches != 0 {
			f.Errorf("%d devices and %d batches are there", devices, batches)
		}
	})
}

type readerFunc func(p []byte) (int, error)

func (fn readerFunc) Read(p []byte) (int, error) { return fn(p) }

// A replica that stops ends a body behind the chunk at hand, and another one goes on.
func TestBodyEndsEarlyWhereItsReplicaStops(t *testing.T) {
	each(t, func(f *fixture) {
		stops := f.api(2, nil)
		f.server.Drain()
		draining := map[string]string{"code": "draining", "durable_lines": "2", "retryable": "true"}
		f.answered(f.send(stops, "", notes(0, 5)), 503, draining)
		f.answered(f.sendBatch(stops, "?batch_id=b", notes(0, 5)), 503, draining)
		f.answered(f.send(stops, "", notes(0, 2)), 200, map[string]string{"unchanged": "2"})
		f.answered(f.sendBatch(f.api(2, nil), "?batch_id=b", notes(0, 5)), 200, map[string]string{"accepted": "3", "unchanged": "2"})
	})
}

// A body that breaks off within a batch is written nowhere; one over the bound is
// refused by what it announces, or by what it comes to.
func TestBatchIsWrittenOnlyWhenItIsWhole(t *testing.T) {
	each(t, func(f *fixture) {
		c, large := f.api(1000, nil), strings.Repeat(" ", records.MaxBatch+1)
		f.answered(f.sendBatch(c, "?batch_id=b", large), 413, map[string]string{"code": "body_too_large", "limit_bytes": fmt.Sprint(records.MaxBatch)})
		f.answered(f.send(c, "?batch_id=b", compressed(large), "Content-SHA256", hashOf(large), "Content-Encoding", "gzip"), 413, map[string]string{"code": "body_too_large"})
		cut := compressed(notes(0, 4))
		f.answered(f.send(c, "?batch_id=b", cut[:len(cut)-1], "Content-SHA256", hashOf(notes(0, 4)), "Content-Encoding", "gzip"), 400, map[string]string{"code": "invalid_json"})
		broken := "[" + strings.ReplaceAll(notes(0, 4), "\n", ",")
		for range 2 { // nobody holds it after the first
			f.answered(f.sendBatch(c, "?batch_id=c", broken, "Content-Type", "application/json"), 400, map[string]string{"code": "invalid_json", "durable_lines": "0"})
		}
		if n := f.count("records", "deleted_at is null"); n != 0 {
			f.Errorf("%d records", n)
		}
	})
}

// A sender that gives up lets the next one go on at once, behind what is durable.
func TestSenderThatGivesUpLeavesTheBatchToOthers(t *testing.T) {
	each(t, func(f *fixture) {
		ctx, giveUp := context.WithCancel(f.Context())
		c := f.api(1, func(records.Tally) { giveUp() })
		got, err := c.Try(ctx, "POST", "/v1/connections/"+f.connection+"/records?batch_id=b", notes(0, 4),
			"Content-Type", "application/x-ndjson", "Content-SHA256", hashOf(notes(0, 4)))
		if n := f.count("records", "true"); n != 1 || err == nil && got.Status == 200 {
			f.Errorf("%d records, %s, %v", n, got, err)
		}
		f.answered(f.sendBatch(f.api(1, nil), "?batch_id=b", notes(0, 4)), 200, map[string]string{"accepted": "4", "unchanged": "0"})
	})
}

// Another process that holds a batch may be at work on it, except where the file has
// one server: there it is gone.
func TestHolderOfAnotherProcessIsWaitedForOrGone(t *testing.T) {
	each(t, func(f *fixture) {
		f.answered(f.sendBatch(f.api(1, func(records.Tally) { panic("the process ends") }), "?batch_id=b", notes(0, 4)), 500, nil)
		dbtest.SQL(f.T, f.Store, "update ingest_batches set holder = 'p_of_another' where connection_id = $1", f.connection)
		if f.Store.Engine() == store.Postgres {
			f.answered(f.sendBatch(f.api(1, nil), "?batch_id=b", notes(0, 4)), 409, map[string]string{"code": "batch_in_progress"})
			f.Pass(records.BatchLease)
		}
		f.answered(f.sendBatch(f.api(1, nil), "?batch_id=b", notes(0, 4)), 200, map[string]string{"accepted": "4", "unchanged": "0"})
	})
}
