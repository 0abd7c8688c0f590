package work

import (
	"context"
	"net/http"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
)

const (
	tryTime = 15 * time.Second // for one try of a report
	// So long after its end a lease is certainly gone: some replica has taken
	// it back.
	certainlyGone = time.Minute
	// A worker that stops does not wait longer for a server that is away.
	lastTries = 10 * time.Second
)

// report tells the server how the command ended.
func (a *attempt) report(p *process, end ending) {
	switch end {
	case byLoss:
		return
	case byStop:
		a.release()
		return
	}
	code, message := p.outcome()
	if code == "" {
		a.complete(p)
		return
	}
	a.reportFailure(code, message)
}

func (a *attempt) complete(p *process) {
	result := p.result()
	if result == nil {
		a.log.Warn("the command printed no JSON line; the result is null")
	}
	err := a.send("complete", func(ctx context.Context) (*http.Response, error) {
		contentType, body := api.Body(client.CompleteJobRequest{LeaseToken: a.job.LeaseToken, Result: result})
		return a.API.CompleteJobWithBody(ctx, a.job.ID, nil, contentType, body)
	})
	switch api.Status(err) {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		// Such as a repeated member, which is JSON and yet not taken.
		a.reportFailure("result_refused", err.Error())
	}
}

func (a *attempt) reportFailure(code, message string) {
	_ = a.send("fail", func(ctx context.Context) (*http.Response, error) {
		return a.API.FailJob(ctx, a.job.ID, nil,
			client.FailJobRequest{LeaseToken: a.job.LeaseToken, Error: client.ErrorBody{Code: code, Message: message}})
	})
}

func (a *attempt) release() {
	_ = a.send("release", func(ctx context.Context) (*http.Response, error) {
		return a.API.ReleaseJob(ctx, a.job.ID, nil,
			client.ReleaseJobRequest{LeaseToken: a.job.LeaseToken})
	})
}

// send makes a report, again and again while the server is away and the lease
// may still be held. It needs no Idempotency-Key: the same report again by the
// same lease changes nothing.
func (a *attempt) send(what string, call func(ctx context.Context) (*http.Response, error)) error {
	until := a.sure.Add(certainlyGone)
	stop, wait := a.stop, api.Backoff{}
	for {
		ctx, cancel := context.WithTimeout(context.Background(), tryTime)
		done, err := api.Answer[client.Finished](call(ctx))
		cancel()
		if err == nil {
			a.log.Info("reported", "what", what, "state", string(done.Value.Job.State))
			return nil
		}
		if !api.Retry(err) || time.Now().After(until) {
			a.log.Error("cannot report", "what", what, "error", err.Error())
			return err
		}
		a.log.Warn("cannot report for now", "what", what, "error", err.Error())
		timer := time.NewTimer(wait.After(err))
		select {
		case <-timer.C:
		case <-stop:
			stop = nil
			until = earlier(until, time.Now().Add(lastTries))
		}
		timer.Stop()
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
