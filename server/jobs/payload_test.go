package jobs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/keyset"
)

// texts are JSON values whose spelling every layer on the way might change.
var texts = []string{
	`{"id":9007199254740993,"n":-9223372036854775808,"u":18446744073709551615}`,
	`123456789012345678901234567890`,
	`-0`, `0`, `1.0`, `1e400`, `-1E-400`, `0.1000`, `1e5`, `100000`,
	`{"b":1,"a":2,"B":3,"":4}`,
	`null`, `true`, `""`, `[]`, `{}`, `[null,{"a":null}]`,
	`"<b>&amp;</b>"`, "\"\u2028\u2029é😀\"", `"\u00e9\ud83d\ude00\/\b\f\n\r\t\"\\"`, `"\u001f"`,
	`"2026-03-04T05:06:07+01:00"`, `"'; drop table jobs; --"`, `"{\"nested\":\"text\"}"`, `"$.a ?1 $1 :x @y %s"`,
	`{"deep":` + strings.Repeat("[", 60) + strings.Repeat("]", 60) + `}`,
}

// JSN-06: JSON is stored and answered as it was sent.
func TestJSONComesBackByteForByte(t *testing.T) {
	each(t, func(d *fixture) {
		same := func(place, want string, got coltype.JSON) {
			d.Helper()
			if string(got) != want {
				d.Errorf("%s: sent %s, got %s", place, want, got)
			}
		}
		for _, want := range texts {
			d.Pass(time.Second)
			same("enqueue", want, d.enqueue(jobs.EnqueueIn{Key: ptr("k"), Payload: js(want)}).Job.Payload)
			same("replace", want, d.enqueue(jobs.EnqueueIn{Key: ptr("k"), Payload: js(want)}).Job.Payload)
			held := d.claim()
			same("claim", want, held.Job.Payload)
			if _, err := d.beat(held, jobs.HeartbeatIn{Progress: js(want)}); err != nil {
				d.Fatal(err)
			}
			same("progress", want, d.job(held.Job.ID).Progress)
			d.enqueue(jobs.EnqueueIn{Key: ptr("k"), Payload: js(want)})
			same("released with again", want, d.finished(held, jobs.FinishIn{Action: jobs.Release}).Job.Payload)
			held = d.claim()
			d.enqueue(jobs.EnqueueIn{Key: ptr("k"), Priority: ptr(int64(1))}) // payload of the claimed job
			ended := d.finished(held, jobs.FinishIn{Action: jobs.Complete, Result: js(want)})
			same("result", want, ended.Job.Result)
			same("run progress", want, d.runs(held.Job.ID)[0].Progress)
			next := d.claim()
			same("successor", want, next.Job.Payload)
			failed := d.finished(next, jobs.FinishIn{Action: jobs.Fail, Error: js(want)})
			same("error", want, failed.Job.Error)
			same("run error", want, failed.Run.Error)
			for _, in := range []jobs.ListIn{{}, {State: jobs.Failed}, {Key: "k"}, {Kind: "build"}} {
				in.OwnerID = d.Owner
				page, _, err := jobs.List.Page(d.Context(), d.Store, in, keyset.Top(), 1)
				if err != nil {
					d.Fatal(err)
				}
				same("list", want, page[0].Payload)
			}
		}
	})
}

func TestKeysAndNamesOfAnyTextComeBackAsTheyWere(t *testing.T) {
	each(t, func(d *fixture) {
		for _, key := range []string{"'; drop table jobs; --", "a\tb\nc", `"\`, "é😀\u2028", "%_", "NULL", " k ", "ISSUE:x", strings.Repeat("k", 512)} {
			got := d.enqueue(jobs.EnqueueIn{Key: &key, Traceparent: &key}).Job
			if text(got.Key) != key || text(got.Traceparent) != key || text(d.job(got.ID).Key) != key {
				d.Errorf("key %q came back as %q", key, text(got.Key))
			}
			if again := d.enqueue(jobs.EnqueueIn{Key: &key}); again.Job.ID != got.ID {
				d.Errorf("key %q does not meet itself", key)
			}
			if page := d.list(jobs.ListIn{Key: key}); len(page) != 1 {
				d.Errorf("key %q: the list shows %d jobs", key, len(page))
			}
		}
		// Keys compare bytewise: neither case nor trailing blanks are folded.
		if d.enqueue(jobs.EnqueueIn{Key: ptr(" K ")}).Deduplicated {
			d.Error("keys were compared without their case")
		}
	})
}
