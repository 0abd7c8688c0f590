// Package outcome makes of a command's end what the server is told about its job,
// and tells it.
//
// A command that exits 0 has done its work, and nothing here may have it done
// again: a result that cannot be read or stored is left out, with a warning that is
// kept with the run. What a command writes to the file named by STINT_OUTCOME
// outranks its exit code, and what it writes to STINT_RESULT outranks its output.
//
// The supervisor's process makes the report (Attempt), since it holds the outputs
// and outlives the worker; the worker sends it (Sender), and the supervisor does so
// itself if the worker is dead.
package outcome

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
)

// Handover is what a supervisor's process must know to report without the worker.
// It holds secrets: it travels through a socket, never through arguments or
// environment.
type Handover struct {
	Files Files // removed by Alone; the worker removes them if it can
	Exits Exits

	JobID      string
	LeaseToken string
	// Lease is how long one renewal of the lease lasts: an attempt to report
	// without the worker ends a minute after so long.
	Lease time.Duration

	Server  string // the base URL
	Token   string
	CAFile  string // authorities that the server's certificate may come from; empty: the system's
	Version string // of this program
}

// Encode is the handover for supervise.Job.
func (h Handover) Encode() []byte {
	text, err := json.Marshal(h)
	if err != nil {
		panic(err) // only texts and numbers
	}
	return text
}

// sender reports to the server of the handover, and logs nothing: a supervisor has
// nowhere to.
func (h Handover) sender() (*Sender, error) {
	roots, err := api.Roots(h.CAFile)
	if err != nil {
		return nil, err
	}
	c, err := api.New(h.Server, h.Token, h.Version, roots)
	if err != nil {
		return nil, err
	}
	return &Sender{API: c, JobID: h.JobID, LeaseToken: h.LeaseToken, Lease: h.Lease, Log: slog.New(slog.DiscardHandler)}, nil
}

// Action is the route of the API that ends a claim.
type Action string

const (
	Complete Action = "complete"
	Fail     Action = "fail"
	Snooze   Action = "snooze"
	Release  Action = "release"
)

// Finish is how an attempt ends.
type Finish struct {
	Action  Action
	Result  json.RawMessage `json:",omitempty"` // of Complete; nil: null
	Code    string          // of Fail
	Message string          // of Fail, at most 4 KiB
	Final   bool            // of Fail: the job is not tried again
	Seconds *int64          // of Snooze; of Fail: instead of the kind's backoff
	Warning string          // of every action, at most 4 KiB; empty: none
	// Declared means that the command itself said so by STINT_OUTCOME, and did not
	// merely end.
	Declared bool
}

// Failed is the end of an attempt that the kind's backoff may try again.
func Failed(code, message string) Finish {
	return Finish{Action: Fail, Code: code, Message: message}
}

// Stands tells whether the end speaks of the command's work although something
// asked it to end: it exited 0, or said by its exit code or by STINT_OUTCOME what is
// to become of the job. Any other failure may be no more than the answer to SIGTERM.
func (f Finish) Stands() bool { return f.Declared || f.Final || f.Action != Fail }

// GivesBack tells whether the job can be claimed again at once, by an attempt that
// does not count.
func (f Finish) GivesBack() bool {
	return f.Action == Release || f.Action == Snooze && *f.Seconds == 0
}

// Decode reads a report that Attempt.Ended made.
func Decode(report []byte) (Finish, error) {
	var f Finish
	if err := json.Unmarshal(report, &f); err != nil {
		return f, fmt.Errorf("read the report of the supervisor: %w", err)
	}
	return f, nil
}

func (f Finish) encode() []byte {
	text, err := json.Marshal(f)
	if err != nil {
		panic(err) // the result is JSON, or it would not be here
	}
	return text
}

// body is what the server gets.
func (f Finish) body(leaseToken string) any {
	warning := optional(f.Warning)
	switch f.Action {
	case Complete:
		return client.CompleteJobRequest{LeaseToken: leaseToken, Result: f.Result, Warning: warning}
	case Fail:
		retryable := !f.Final
		return client.FailJobRequest{
			LeaseToken: leaseToken, Error: client.ErrorBody{Code: f.Code, Message: f.Message},
			Retryable: &retryable, RetryAfterSeconds: f.Seconds, Warning: warning,
		}
	case Snooze:
		return client.SnoozeJobRequest{LeaseToken: leaseToken, Seconds: *f.Seconds, Warning: warning}
	}
	return client.ReleaseJobRequest{LeaseToken: leaseToken, Warning: warning}
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
