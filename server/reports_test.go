package server_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// holding is a job that the caller of the API holds.
type holding struct {
	*api
	id, lease, run string
}

func hold(a *api) holding {
	a.T.Helper()
	a.Must(201, "/v1/jobs", `{"kind":"review","priority":1}`)
	got := a.Must(200, "/v1/jobs/claim", `{"worker":"w","kinds":["review"]}`)
	return holding{a, got.Str("jobs.0.id"), got.Str("jobs.0.lease_token"), got.Str("jobs.0.run_id")}
}

// post is one action on the job, with more members behind the token.
func (h holding) post(action, members string) (status int, code string) {
	h.T.Helper()
	got := h.Post("/v1/jobs/"+h.id+"/"+action, `{"lease_token":"`+h.lease+`",`+members+`}`)
	return got.Status, got.Str("code")
}

// dirty is a JSON string that no engine can store, clean is what is kept of it.
const (
	dirty = `nul \u0000, half a pair \ud83d, bell \u0007, \u001b[31mred`
	clean = "nul \ufffd, half a pair \ufffd, bell \a, \x1b[31mred"
)

// finishes are the members of each finish, %s being a text.
var finishes = map[string]string{
	"complete": `"result":1,`, "fail": `"error":{"code":"x","message":"%s"},`, "snooze": `"seconds":9,`, "release": "",
}

func TestReportsAreTakenWhateverTheirTextsHold(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		a := newAPI(t, s)
		for sent, kept := range map[string]string{
			dirty:                        clean,
			strings.Repeat("x", 500_000): strings.Repeat("x", 4074) + "… [495926 bytes cut]",
			strings.Repeat("€", 9_000):   strings.Repeat("€", 1358) + "… [22926 bytes cut]",
		} {
			for action, members := range finishes {
				h := hold(a)
				members = strings.ReplaceAll(members+`"warning":"%s"`, "%s", sent)
				if status, code := h.post(action, members); status != 200 {
					t.Fatalf("%s of %d bytes: %d %s", action, len(sent), status, code)
				}
				run := a.Get("/v1/runs/" + h.run)
				if said := run.Str("warning"); said != kept {
					t.Errorf("%s: the run keeps %d bytes, %.60q; want %d, %.60q", action, len(said), said, len(kept), kept)
				}
				if said := run.Str("error.message"); action == "fail" && said != kept {
					t.Errorf("the error keeps %d bytes, %.60q; want %d, %.60q", len(said), said, len(kept), kept)
				}
				a.Post("/v1/jobs/"+h.id+"/cancel", "")
			}
		}
	})
}

func TestReportBeyondTheBodysBoundIsRefusedAndTheJobCanStillBeEnded(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		a := newAPI(t, s)
		h, great := hold(a), strings.Repeat("x", 2<<20)
		for action, members := range map[string]string{
			"fail": `"error":{"code":"x","message":"` + great + `"}`, "log": `"seq":1,"text":"` + great + `"`,
		} {
			if status, code := h.post(action, members); status != 413 || code != "body_too_large" {
				t.Errorf("%s: %d %s", action, status, code)
			}
		}
		if status, code := h.post("fail", `"error":{"code":"x","message":"`+"\xff"+`"}`); status != 400 || code != "invalid_json" {
			t.Errorf("not UTF-8: %d %s", status, code)
		}
		batch := fmt.Sprintf(`{"items":[{"id":%q,"lease_token":%q,"warning":"%s"}]}`, h.id, h.lease, great)
		got := a.Must(200, "/v1/jobs/complete", batch)
		if got.Str("results.0.job.state") != "succeeded" || a.Get("/v1/runs/"+h.run).Str("warning") != great[:4073]+"… [2093079 bytes cut]" {
			t.Errorf("a batch with a warning of 2 MiB: %s", got)
		}
	})
}

func TestLogIsKeptAsCleanText(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		a := newAPI(t, s)
		h := hold(a)
		if log := a.Get("/v1/runs/" + h.run + "/log"); log.Status != 200 || log.Str("text") != "" || fmt.Sprintln(log.At("bytes"), log.At("updated_at")) != "0 <nil>\n" {
			t.Errorf("nothing was printed: %s", log)
		}
		h.post("log", `"seq":1,"text":"`+dirty+`"`)
		if log := a.Get("/v1/runs/" + h.run + "/log"); log.Str("text") != clean {
			t.Errorf("kept %s", log)
		}
		great := strings.Repeat("é", 300_000)
		got := a.Must(200, "/v1/jobs/"+h.id+"/log", `{"lease_token":"`+h.lease+`","seq":2,"text":"`+great+`"}`)
		log := a.Get("/v1/runs/" + h.run + "/log")
		if text := log.Str("text"); text != great[:64<<10] || !utf8.ValidString(text) {
			t.Errorf("%d bytes are kept", len(text))
		}
		cut := len(great) - 64<<10
		if told := fmt.Sprintln(got.At("cut_bytes"), log.At("cut_bytes"), log.At("bytes")); told != fmt.Sprintln(cut, cut+len(clean), len(great)+len(clean)) {
			t.Errorf("told %s", told)
		}
		for _, members := range []string{`"seq":0,"text":""`, `"seq":1`, `"seq":1,"text":null`, `"seq":1,"text":"","more":1`, `"seq":1,"text":"","skipped_bytes":-1`, `"seq":1,"text":"","skipped_bytes":1099511627777`} {
			if status, _ := h.post("log", members); status != 422 {
				t.Errorf("%s: %d", members, status)
			}
		}
		if got := a.Get("/v1/runs/run_x/log"); got.Status != 404 {
			t.Errorf("an unknown run: %s", got)
		}
	})
}

func TestAppendTellsWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		a := newAPI(t, s)
		h := hold(a)
		for _, tt := range []struct{ members, want string }{
			{`"seq":4,"text":"four "`, "4 false 0"},
			{`"seq":3,"text":"late "`, "4 true 0"},
			{`"seq":4,"text":"again "`, "4 true 0"},
			{`"seq":5,"text":"five","skipped_bytes":7`, "5 false 0"},
		} {
			got := a.Must(200, "/v1/jobs/"+h.id+"/log", `{"lease_token":"`+h.lease+`",`+tt.members+`}`)
			if told := fmt.Sprintf("%v %v %v", got.At("seq"), got.At("duplicate"), got.At("cut_bytes")); told != tt.want || got.Str("run_id") != h.run {
				t.Errorf("%s: %s, want %s of %s", tt.members, got, tt.want, h.run)
			}
		}
		log := a.Get("/v1/runs/" + h.run + "/log")
		if told := fmt.Sprintf("%v %v %v %v", log.At("text"), log.At("bytes"), log.At("cut_bytes"), log.At("seq")); told != "five 16 12 5" {
			t.Errorf("the log says %s", log)
		}
	})
}
