package outcome

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stint-run/stint/cmd/stint/internal/result"
	"github.com/stint-run/stint/cmd/stint/internal/supervise"
)

// exit and signal are wait statuses as Linux and the BSDs spell them.
func exit(code int) supervise.End {
	return supervise.End{Status: syscall.WaitStatus(code << 8), Known: true}
}

func signal(s syscall.Signal) supervise.End {
	return supervise.End{Status: syscall.WaitStatus(s), Known: true}
}

// command is a command that ended: how, and what it printed and wrote.
type command struct {
	end      supervise.End
	out, err string
	told     string // STINT_OUTCOME
	result   string // STINT_RESULT
}

// report is what a supervisor makes of it.
func (c command) report(t *testing.T) Finish {
	t.Helper()
	exits, err := ParseExits([]string{"75=15m"}, []string{"65"})
	if err != nil {
		t.Fatal(err)
	}
	h := Handover{Exits: exits}
	a := newAttempt(t, &h, map[string]string{outcomeFile: c.told, resultFile: c.result})
	a.Output(1, []byte(c.out))
	a.Output(2, []byte(c.err))
	f, err := Decode(a.Ended(c.end))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f Finish) seconds() int64 {
	if f.Seconds == nil {
		return -1
	}
	return *f.Seconds
}

func TestACommandEndsItsAttempt(t *testing.T) {
	t.Parallel()
	left := exit(0)
	left.Left = []string{"pid 77 (sudo)"}
	tests := map[string]struct {
		command command
		want    Finish
		seconds int64
	}{
		"exit 0 completes": {command{end: exit(0), out: "{\"a\":1}\n"}, Finish{Action: Complete, Result: []byte(`{"a":1}`)}, -1},
		"without output":   {command{end: exit(0), err: "x"}, Finish{Action: Complete}, -1},
		"with other output": {command{end: exit(0), out: "done\n"},
			Finish{Action: Complete, Warning: "no line of the output begins a JSON text"}, -1},
		"with what is left": {command{end: left},
			Finish{Action: Complete, Warning: "still running, since they could not be killed: pid 77 (sudo)"}, -1},
		"an exit code fails": {command{end: exit(3), out: "1\n", err: "why\n"}, Finish{Action: Fail, Code: "exit_3", Message: "why"}, -1},
		"a signal fails":     {command{end: signal(syscall.SIGKILL), err: "why"}, Finish{Action: Fail, Code: "signal_kill", Message: "why"}, -1},
		"standard output tells why": {command{end: exit(1), out: "first\nthe key is wrong\n", err: " \n"},
			Finish{Action: Fail, Code: "exit_1", Message: "the key is wrong"}, -1},
		"nothing tells why": {command{end: exit(1)},
			Finish{Action: Fail, Code: "exit_1", Message: "the command ended with exit status 1 and printed nothing"}, -1},
		"an exit code snoozes":  {command{end: exit(75), err: "why"}, Finish{Action: Snooze}, 900},
		"an exit code is final": {command{end: exit(65), err: "why"}, Finish{Action: Fail, Code: "exit_65", Message: "why", Final: true}, -1},
		"a signal is no code":   {command{end: signal(65)}, Finish{Action: Fail, Code: "signal_65", Message: "signal: signal 65"}, -1},

		"a file outranks the output": {command{end: exit(0), out: "1\n", result: "\ufeff[2]\r\n"}, Finish{Action: Complete, Result: []byte("[2]")}, -1},
		"an empty file does not":     {command{end: exit(0), out: "1\n"}, Finish{Action: Complete, Result: []byte("1")}, -1},
		"a blank file does": {command{end: exit(0), out: "1\n", result: "\n"},
			Finish{Action: Complete, Warning: "STINT_RESULT is not JSON; the result is null"}, -1},
		"a file of two texts": {command{end: exit(0), out: "1\n", result: "1 2"},
			Finish{Action: Complete, Warning: "STINT_RESULT is not JSON; the result is null"}, -1},
		"a file that is too large": {command{end: exit(0), result: `"` + strings.Repeat("x", result.Max-1) + `"`},
			Finish{Action: Complete, Warning: "STINT_RESULT is larger than 256 KiB; the result is null"}, -1},

		"told complete": {command{end: exit(1), out: "1\n", told: `{"outcome":"complete"}`}, Finish{Action: Complete, Result: []byte("1"), Declared: true}, -1},
		"told complete, killed": {command{end: signal(syscall.SIGTERM), result: "2", told: `{"outcome":"complete","message":"ok"}`},
			Finish{Action: Complete, Result: []byte("2"), Declared: true, Warning: "ok"}, -1},
		"told release": {command{end: exit(0), told: "\ufeff{\"outcome\":\"release\"}\r\n"}, Finish{Action: Release, Declared: true}, -1},
		"told snooze": {command{end: exit(0), told: `{"outcome":"snooze","seconds":60,"code":"rate_limited","message":"429"}`},
			Finish{Action: Snooze, Declared: true, Warning: "rate_limited: 429"}, 60},
		"told fail": {command{end: exit(0), out: "1\n", told: `{"outcome":"fail"}`}, Finish{Action: Fail, Code: "failed", Message: "1", Declared: true}, -1},
		"told fail later": {command{end: exit(9), told: `{"outcome":"fail","seconds":0,"code":"busy","message":"a\u0000b"}`},
			Finish{Action: Fail, Code: "busy", Message: "a\ufffdb", Declared: true}, 0},
		"told final, not why": {command{end: exit(9), err: "why", told: `{"outcome":"final","seconds":null}`},
			Finish{Action: Fail, Code: "exit_9", Message: "why", Final: true, Declared: true}, -1},
		"told badly": {command{end: exit(75), told: `{"outcome":"done"}`},
			Finish{Action: Snooze, Warning: `STINT_OUTCOME has an outcome that is none of complete, fail, final, snooze and release: "done"; the exit code counts instead`}, 900},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, want := tt.command.report(t), tt.want
			if got.Action != want.Action || string(got.Result) != string(want.Result) || got.Code != want.Code ||
				got.Final != want.Final || got.Declared != want.Declared || got.seconds() != tt.seconds {
				t.Errorf("got %+v", got)
			}
			if !strings.Contains(got.Message, want.Message) || want.Warning == "" != (got.Warning == "") || !strings.Contains(got.Warning, want.Warning) {
				t.Errorf("message %q, warning %q", got.Message, got.Warning)
			}
		})
	}
}

func TestAnOutcomeIsReadStrictly(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		`complete`:                          "is not a JSON object",
		`"complete"`:                        "is not a JSON object",
		`{"outcome":"complete"} {}`:         "is not a JSON object",
		`{"outcome":"complete"`:             "is not a JSON object",
		`{}`:                                "none of complete",
		`{"outcome":"complete","result":1}`: `unknown member "result"`,
		`{"Outcome":"complete"}`:            `unknown member "Outcome"`,
		`{"outcome":"fail","outcome":"complete"}`: `has "outcome" twice`,
		`{"outcome":1}`:                                                      "a outcome of the wrong type: 1",
		`{"outcome":"snooze"}`:                                               "not for how many seconds",
		`{"outcome":"snooze","seconds":"60"}`:                                `seconds of the wrong type: "60"`,
		`{"outcome":"snooze","seconds":1.5}`:                                 "wrong type: 1.5",
		`{"outcome":"snooze","seconds":-1}`:                                  "outside of 0 to 2592000",
		`{"outcome":"fail","seconds":2592001}`:                               "outside of 0 to 2592000",
		`{"outcome":"final","seconds":1}`:                                    "has seconds, which final does not take",
		`{"outcome":"fail","code":"a\u0000"}`:                                "not 1 to 64 characters",
		`{"outcome":"fail","code":"` + strings.Repeat("ä", 65) + `"}`:        "not 1 to 64 characters",
		`{"outcome":"fail","message":"` + strings.Repeat("x", 64<<10) + `"}`: "is larger than 64 KiB",
	}
	for text, want := range tests {
		_, err := makeFiles(t, map[string]string{outcomeFile: text}).declared()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v", text, err)
		}
	}
}

func TestWithoutItsSupervisorACommandIsNotRunAgain(t *testing.T) {
	t.Parallel()
	lost := supervise.End{Alone: true}
	done, other := exit(0), exit(65)
	done.Alone, other.Alone = true, true
	tests := map[string]struct {
		end          supervise.End
		told, result string
		want         Finish
	}{
		"exit 0":                {done, "", "", Finish{Action: Complete, Warning: "the result is null"}},
		"exit 0 and a file":     {done, "", "[1]", Finish{Action: Complete, Result: []byte("[1]")}},
		"unknown":               {lost, "", "[1]", Finish{Action: Fail, Code: "supervisor_lost", Message: "what it printed is only in the run's log"}},
		"unknown, but told":     {lost, `{"outcome":"complete"}`, "[1]", Finish{Action: Complete, Result: []byte("[1]")}},
		"not killed":            {supervise.End{}, "", "", Finish{Action: Fail, Code: "not_killed"}},
		"another exit, as ever": {other, "", "", Finish{Action: Fail, Code: "exit_65", Final: true, Message: "exit status 65; its supervisor died"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := Handover{Files: makeFiles(t, map[string]string{outcomeFile: tt.told, resultFile: tt.result}), Exits: Exits{Final: map[int]bool{65: true}}}
			got := WithoutSupervisor(h, tt.end)
			if got.Action != tt.want.Action || got.Code != tt.want.Code || got.Final != tt.want.Final ||
				string(got.Result) != string(tt.want.Result) || !strings.Contains(got.Message, tt.want.Message) || !strings.Contains(got.Warning, tt.want.Warning) {
				t.Errorf("got %+v", got)
			}
		})
	}
}
