package outcome

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
)

const (
	// The first try of a report has shortTry, each later one twice the time of the
	// one before, up to longTry: a connection that has died costs a try, and must not
	// cost the lease; a slow one needs long for a large result.
	shortTry, longTry = 3 * time.Second, 15 * time.Second
	// longestPause is between tries: nobody renews the lease of a dead worker.
	longestPause = 2 * time.Second
	// Something on the way may turn a report away because of what it says. After so
	// many refusals, over a third of a lease and at most maxPatience, the report goes
	// without its result, then without its texts.
	minBlocks   = 3
	maxPatience = 5 * time.Minute
)

// Sender reports how the attempt of one job has ended.
type Sender struct {
	API        *client.Client
	JobID      string
	LeaseToken string
	Lease      time.Duration // how long one renewal of the lease lasts
	Log        *slog.Logger
}

// Send reports until the server has answered, the lease is gone, or ctx ends. The
// same report twice changes nothing, so it needs no Idempotency-Key, and the worker
// and the supervisor may both send it.
//
// A server that refuses the result, or a warning that it does not know, gets the
// report without it: never is a command run again because of its result. Whatever
// else goes wrong may pass, a refused token too (it is being replaced, or something
// between answers instead), and is tried again: there is nothing better to do with
// work that is done. The lease is gone by 409, or by the server's own 404.
func (s *Sender) Send(ctx context.Context, f Finish) (client.Finished, error) {
	wait, way := api.Backoff{Longest: longestPause}, blocks{patience: min(s.Lease/3, maxPatience)}
	for length := shortTry; ; length = min(2*length, longTry) {
		done, err := s.try(ctx, f, length)
		if err == nil {
			s.Log.Info("reported", "what", string(f.Action), "state", string(done.Job.State))
			return done, nil
		}
		less, ok := f.without(err)
		if way.blocked(err) {
			less, ok = f.shorter(err)
		}
		if ok {
			s.Log.Warn("a part of the report is refused: sending it without", "what", string(f.Action), "error", err.Error())
			f = less
			continue
		}
		if ended(err) {
			s.Log.Error("cannot report", "what", string(f.Action), "error", err.Error())
			return done, err
		}
		s.Log.Warn("cannot report for now", "what", string(f.Action), "error", err.Error())
		if !wait.Sleep(ctx, err) {
			s.Log.Error("cannot report, and the time for it is over", "what", string(f.Action), "error", err.Error())
			return done, err
		}
	}
}

func (s *Sender) try(ctx context.Context, f Finish, length time.Duration) (client.Finished, error) {
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	contentType, body := api.Body(f.body(s.LeaseToken))
	done, err := api.Answer[client.Finished](s.call(ctx, f.Action, contentType, body))
	return done.Value, err
}

func (s *Sender) call(ctx context.Context, a Action, contentType string, body io.Reader) (*http.Response, error) {
	switch a {
	case Complete:
		return s.API.CompleteJobWithBody(ctx, s.JobID, nil, contentType, body)
	case Fail:
		return s.API.FailJobWithBody(ctx, s.JobID, nil, contentType, body)
	case Snooze:
		return s.API.SnoozeJobWithBody(ctx, s.JobID, nil, contentType, body)
	}
	return s.API.ReleaseJobWithBody(ctx, s.JobID, nil, contentType, body)
}

// without is the report without what the server has refused in it; false if that
// is nothing that could be left out.
func (f Finish) without(err error) (less Finish, ok bool) {
	if !refused(err) {
		return f, false
	}
	byWarning := api.Names(err, "/warning")
	if f.Result != nil && (api.Names(err, "/result") || !byWarning) {
		less = f.withoutResult(err)
		if byWarning {
			less.Warning = ""
		}
		return less, true
	}
	less = f
	less.Warning = ""
	return less, f.Warning != ""
}

func (f Finish) withoutResult(err error) Finish {
	f.Result = nil
	who := "the server"
	if api.Foreign(err) {
		who = "something on the way to the server"
	}
	f.Warning = join(f.Warning, who+" refused the result ("+err.Error()+"); the result is null")
	return f
}

// textsBlocked stands for the message or the warning of a report.
const textsBlocked = "something on the way to the server refused the report with its message and warning; they are left out"

// shorter is the report without its result or, if it has none, without its texts;
// false if it has nothing that could be left out.
func (f Finish) shorter(err error) (less Finish, ok bool) {
	less = f
	switch {
	case f.Result != nil:
		return f.withoutResult(err), true
	case f.Action == Fail:
		less.Message, less.Warning = textsBlocked, ""
	case f.Warning != "":
		less.Warning = textsBlocked
	}
	return less, less.Message != f.Message || less.Warning != f.Warning
}

// refused tells whether the server takes the report for wrong.
func refused(err error) bool { return api.BadRequest(err) && !api.Foreign(err) }

// blocks counts how often something on the way did not let a report through, as
// filters do that take a part of a result for an attack.
type blocks struct {
	patience time.Duration
	n        int
	since    time.Time // the first
}

// blocked tells, of one more error, whether the way has been blocked for so long
// that the report should go without what may be the cause.
func (b *blocks) blocked(err error) bool {
	switch status := api.Status(err); {
	case !api.Foreign(err) || status >= http.StatusInternalServerError:
		return false
	case status == http.StatusUnauthorized, status == http.StatusNotFound,
		status == http.StatusRequestTimeout, status == http.StatusTooManyRequests:
		return false
	}
	if b.n++; b.n == 1 {
		b.since = time.Now()
	}
	return b.n >= minBlocks && time.Since(b.since) >= b.patience
}

// ended tells whether it is of no use to try again.
func ended(err error) bool { return api.LeaseGone(err) || refused(err) }
