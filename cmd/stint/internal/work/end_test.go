package work

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func working(lease time.Duration) *fake {
	return &fake{reply: func(f *fake, c call) (int, string) {
		switch c.action {
		case "claim":
			return 200, oneJob(lease)
		case "heartbeat":
			return 200, `{"directive":"continue","lease_expires_at":"2030-01-01T00:00:00Z"}`
		}
		return 200, finished
	}}
}

// Whoever asked a command to end: exit 0 says that its work is done, and nothing
// has it done again.
func TestHowACommandEndsThatWasAskedTo(t *testing.T) {
	t.Parallel()
	const wait = "; touch %s; while :; do sleep 0.05; done"
	tests := map[string]struct {
		script  string
		timeout time.Duration // 0: the worker stops
		want    string
		said    string // in the report
	}{
		"stop, by the signal":    {"true" + wait, 0, "release", ""},
		"stop, another exit":     {"trap 'exit 3' TERM" + wait, 0, "release", ""},
		"stop, never ends":       {"trap '' TERM" + wait, 0, "release", ""},
		"stop, exit 0":           {"trap 'echo 7; exit 0' TERM" + wait, 0, "complete", ""},
		"stop, it says so":       {`trap 'echo "{\"outcome\":\"snooze\",\"seconds\":5}" >$STINT_OUTCOME; exit 1' TERM` + wait, 0, "snooze", ""},
		"stop, and a warning":    {"echo no >$STINT_OUTCOME" + wait, 0, "release", `"warning":"STINT_OUTCOME is not a JSON object`},
		"limit, by the signal":   {"true" + wait, time.Second, "fail", `"code":"timeout"`},
		"limit, exit 0 in time":  {"trap 'echo 7; exit 0' TERM" + wait, time.Second, "complete", ""},
		"limit, killed":          {"trap '' TERM" + wait, time.Second, "fail", `"code":"timeout"`},
		"stop, ignores SIGTERM":  {"trap '' TERM; sh -c 'trap \"\" TERM; sleep 1'; touch %s; sleep 0.5; exit 0", 0, "complete", ""},
		"limit, before half way": {"touch %s; exit 4", time.Second, "fail", `"code":"exit_4"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := working(time.Minute)
			begun := filepath.Join(t.TempDir(), "begun")
			ended := startWork(t, f, Config{MaxJobs: 1, Timeout: tt.timeout}, fmt.Sprintf(tt.script, begun))
			waitFor(t, func() bool { _, err := os.Stat(begun); return err == nil })
			if tt.timeout == 0 {
				f.stop()
			}
			end(t, ended)
			if got := f.actions(); got != "claim "+tt.want {
				t.Fatalf("the server was asked for %q", got)
			}
			if body := f.done(tt.want)[0].body; !strings.Contains(body, tt.said) {
				t.Errorf("reported %s", body)
			}
		})
	}
}

func TestProgressThatIsStoppedOnTheWayCostsNoLease(t *testing.T) {
	t.Parallel()
	f := working(900 * time.Millisecond)
	answer := f.reply
	renewed := 0
	f.reply = func(f *fake, c call) (int, string) {
		if strings.Contains(c.body, "progress") {
			return 403, "<html>"
		}
		if c.action == "heartbeat" {
			renewed++
		}
		return answer(f, c)
	}
	end(t, startWork(t, f, Config{MaxJobs: 1}, `echo '{"n":1}' >$STINT_PROGRESS; sleep 5`))
	if renewed < 2 || len(f.done("complete")) != 1 {
		t.Errorf("the server was asked for %q", f.actions())
	}
}

func TestProgressThatIsRefusedCostsNoHeartbeat(t *testing.T) {
	t.Parallel()
	f := working(900 * time.Millisecond)
	answer := f.reply
	var beaten []time.Time
	f.reply = func(f *fake, c call) (int, string) {
		if c.action == "heartbeat" {
			beaten = append(beaten, time.Now())
		}
		if strings.Contains(c.body, "progress") {
			return 422, `{"code":"validation_failed","status":422,"detail":"","errors":[{"pointer":"/progress","detail":"no"}]}`
		}
		return answer(f, c)
	}
	dir := t.TempDir()
	ended := startWork(t, f, Config{MaxJobs: 1}, `echo '{"n":1}' >$STINT_PROGRESS; until [ -e `+dir+`/go ]; do sleep 0.02; done`)
	waitFor(t, func() bool { return len(f.done("heartbeat")) >= 3 })
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	end(t, ended)
	beats := f.done("heartbeat")
	if !strings.Contains(beats[0].body, `"progress":{"n":1}`) {
		t.Errorf("the first heartbeat is %s", beats[0].body)
	}
	for _, beat := range beats[1:] {
		if strings.Contains(beat.body, "progress") {
			t.Errorf("refused once, sent again: %s", beat.body)
		}
	}
	if len(f.done("complete")) != 1 {
		t.Errorf("the server was asked for %q", f.actions())
	}
	if after := beaten[1].Sub(beaten[0]); after > 250*time.Millisecond {
		t.Errorf("the heartbeat came again after %s", after)
	}
}

// A command that is gone is the end of the worker, and of no other command.
func TestACommandThatCannotBeRunEndsNoOther(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nrm $0; until [ -e "+dir+"/go ]; do sleep 0.02; done; echo 7\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	f := working(600 * time.Millisecond)
	answer := f.reply
	f.reply = func(f *fake, c call) (int, string) {
		if _, err := os.Stat(script); c.action == "claim" && len(f.of("claim")) > 1 && err == nil {
			return 200, none
		}
		return answer(f, c)
	}
	ended := startCommand(t, f, Config{Concurrency: 2, Grace: 10 * time.Millisecond}, script)
	waitFor(t, func() bool { return len(f.done("release")) == 1 })
	beats := len(f.done("heartbeat"))
	waitFor(t, func() bool { return len(f.done("heartbeat")) >= beats+2 }) // longer than Grace
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "start the command") {
		t.Errorf("the worker ended with %v", err)
	}
	if len(f.done("complete")) != 1 || len(f.done("release")) != 1 {
		t.Errorf("the server was asked for %q", f.actions())
	}
}

// What stops a report need not stop heartbeats: nobody else gets the job while the
// worker still has its result.
func TestALeaseIsKeptUntilTheReportIsMade(t *testing.T) {
	t.Parallel()
	f := working(600 * time.Millisecond)
	answer := f.reply
	f.reply = func(f *fake, c call) (int, string) {
		if c.action == "complete" && len(f.of("heartbeat")) < 5 {
			return 502, "the proxy has lost the server"
		}
		return answer(f, c)
	}
	end(t, startWork(t, f, Config{MaxJobs: 1}, "echo 1"))
	if reports := f.done("complete"); len(reports) < 2 || !strings.Contains(reports[0].body, `"result":1`) {
		t.Errorf("reported %+v", reports)
	}
	if f.actions()[len(f.actions())-len("complete"):] != "complete" {
		t.Errorf("the server was asked for %q", f.actions())
	}
}

// A command that is killed for its lost lease may have said what it has done.
func TestWhatACommandSaidOfItsWorkIsReportedWithoutALease(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		`echo '{"outcome":"complete"}' >$STINT_OUTCOME; sleep 60`: "claim heartbeat complete",
		`echo 7; sleep 60`: "claim heartbeat",
	} {
		f := working(600 * time.Millisecond)
		answer := f.reply
		f.reply = func(f *fake, c call) (int, string) {
			if c.action != "claim" {
				return 409, lost
			}
			return answer(f, c)
		}
		end(t, startWork(t, f, Config{MaxJobs: 1}, script))
		if got := slices.Compact(strings.Fields(f.actions())); strings.Join(got, " ") != want {
			t.Errorf("the server was asked for %q, want %q", got, want)
		}
	}
}

// Nobody else removes the folder if the worker ends before the report is taken.
func TestTheFolderOfADeadSupervisorIsRemovedBeforeTheReport(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	f := working(900 * time.Millisecond)
	answer := f.reply
	folder, err := []byte(nil), error(nil)
	f.reply = func(f *fake, c call) (int, string) {
		switch c.action {
		case "heartbeat": // the worker knows that the command has begun
			_ = os.WriteFile(temp+"/go", nil, 0o600)
		case "fail":
			folder, _ = os.ReadFile(temp + "/folder")
			_, err = os.Stat(string(folder))
		}
		return answer(f, c)
	}
	script := `printf %s "${STINT_OUTCOME%/*}" >folder; until [ -e go ]; do sleep 0.02; done; kill -9 $PPID; sleep 60`
	end(t, startWork(t, f, Config{MaxJobs: 1}, "cd "+temp+"; "+script))
	if len(folder) == 0 || !os.IsNotExist(err) {
		t.Errorf("at the report the folder %q was there: %v; the server was asked for %q", folder, err, f.actions())
	}
}

// A job that its command gives back can be claimed at once, and that attempt does
// not count: the slot waits, or the command would be started without end.
func TestASlotWaitsWhenACommandGivesItsJobBack(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[string]string{
		`{"outcome":"release"}`:              `"limit":1,`,
		`{"outcome":"snooze","seconds":0}`:   `"limit":1,`,
		`{"outcome":"snooze","seconds":600}`: `"limit":2,`,
	} {
		t.Run(outcome, func(t *testing.T) {
			t.Parallel()
			f := working(time.Minute)
			answer := f.reply
			f.reply = func(f *fake, c call) (int, string) {
				if c.action == "claim" && len(f.of("claim")) > 1 {
					return 200, none
				}
				return answer(f, c)
			}
			ended := startWork(t, f, Config{Concurrency: 2}, "echo '"+outcome+"' >$STINT_OUTCOME")
			waitFor(t, func() bool { return len(f.done("release"))+len(f.done("snooze")) > 0 })
			before := len(f.done("claim"))
			waitFor(t, func() bool { return len(f.done("claim")) > before+20 })
			f.stop()
			end(t, ended)
			claims := f.done("claim")
			if last := claims[before+20].body; !strings.Contains(last, want) {
				t.Errorf("claimed with %s, want %s", last, want)
			}
		})
	}
}
