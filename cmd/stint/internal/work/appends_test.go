package work

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// printing is a fake whose one job is claimed once; log answers the appends.
func printing(log func(f *fake) (int, string)) *fake {
	return &fake{reply: func(f *fake, c call) (int, string) {
		switch c.action {
		case "claim":
			return 200, oneJob(time.Minute)
		case "log":
			return log(f)
		}
		return 200, finished
	}}
}

const appended = `{"run_id":"run_1","seq":1,"duplicate":false,"cut_bytes":0}`

func TestBothOutputsAreInTheLogBeforeTheReport(t *testing.T) {
	t.Parallel()
	f := printing(func(*fake) (int, string) { return 200, appended })
	end(t, startWork(t, f, Config{MaxJobs: 1, LogBytes: maxPart}, "echo a; sleep 0.1; echo b >&2; sleep 0.1; printf c"))
	if got := f.actions(); got != "claim log complete" {
		t.Fatalf("the server was asked for %q", got)
	}
	if body := f.done("log")[0].body; !strings.Contains(body, `"seq":1,"skipped_bytes":0,"text":"a\nb\nc"`) {
		t.Errorf("appended %s", body)
	}
}

func TestNothingIsAppendedIfNothingIsKept(t *testing.T) {
	t.Parallel()
	f := printing(func(*fake) (int, string) { return 200, appended })
	end(t, startWork(t, f, Config{MaxJobs: 1}, "echo a"))
	if got := f.actions(); got != "claim complete" {
		t.Errorf("the server was asked for %q", got)
	}
}

// Appends come every two seconds. One that is refused is the attempt's last, one
// whose answer does not come is sent again as it was, and one that something on the
// way turns away is left out.
func TestAnAppendThatFailsEndsNothing(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status int
		body   string
		want   string
	}{
		"away":    {503, away, "claim log log log complete"},
		"lost":    {409, lost, "claim log complete"},
		"unknown": {404, `{"code":"not_found","status":404,"detail":"","errors":[]}`, "claim log complete"},
		"refused": {422, `{"code":"validation_failed","status":422,"detail":"","errors":[]}`, "claim log complete"},
		"blocked": {403, "<html>a filter on the way</html>", "claim log log complete"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := printing(func(f *fake) (int, string) {
				if len(f.of("log")) == 1 {
					return tt.status, tt.body
				}
				return 200, appended
			})
			end(t, startWork(t, f, Config{MaxJobs: 1, LogBytes: maxPart}, fmt.Sprintf("echo a; sleep %.1f; echo b", 1.2*appendEvery.Seconds())))
			if got := f.actions(); got != tt.want {
				t.Fatalf("the server was asked for %q, want %q", got, tt.want)
			}
			if logs := f.done("log"); name == "away" && (logs[0] != logs[1] || !strings.Contains(logs[2].body, `"seq":2,"skipped_bytes":0,"text":"b\n"`)) {
				t.Errorf("appended %+v", logs)
			}
			if logs := f.done("log"); name == "blocked" && !strings.Contains(logs[1].body, `"seq":2,"skipped_bytes":2,"text":"[2 bytes of output are left out here]\nb\n"`) {
				t.Errorf("appended %+v", logs)
			}
		})
	}
}

func TestALogThatIsNotAnsweredDelaysTheReportByLittle(t *testing.T) {
	t.Parallel()
	f := printing(func(*fake) (int, string) { return 200, appended })
	f.hold = func(c call, gone <-chan struct{}) {
		if c.action == "log" {
			<-gone
		}
	}
	began := time.Now()
	end(t, startWork(t, f, Config{MaxJobs: 1, LogBytes: maxPart}, "echo a"))
	if took := time.Since(began); took > lastAppend+8*time.Second {
		t.Errorf("reported after %s", took)
	}
	if got := f.actions(); got != "claim log complete" {
		t.Errorf("the server was asked for %q", got)
	}
}
