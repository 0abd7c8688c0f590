package work

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/cmd/stint/internal/boottime"
	"github.com/stint-run/stint/gen/client"
)

const (
	// appendEvery is how often what the command prints goes to the log at most.
	appendEvery = 2 * time.Second
	appendTime  = 10 * time.Second // for one append
	// lastAppend is how long the report of an attempt waits for its log.
	lastAppend = 2 * time.Second
	// reportTime of a lease is not spent on the log.
	reportTime = 2 * time.Second
	// logsAgain is how soon a server that knew no logs is asked again: replicas
	// of two releases may serve.
	logsAgain = time.Minute
)

// appends takes what a command prints to the log of its run. An append that
// fails ends nothing else.
type appends struct {
	*attempt
	printed *transcript

	seq     int64
	part    part // of seq; the server may have it
	refused bool // for good

	requests context.Context // ends when no request may be under way any more
	give     context.CancelFunc
	over     chan struct{}
	ended    chan struct{}
}

func (a *attempt) appends(printed *transcript) *appends {
	l := &appends{attempt: a, printed: printed, over: make(chan struct{}), ended: make(chan struct{})}
	l.requests, l.give = context.WithCancel(context.Background())
	return l
}

// run appends from time to time, until finish is called.
func (l *appends) run() {
	defer close(l.ended)
	timer := time.NewTicker(appendEvery)
	defer timer.Stop()
	for !l.refused {
		select {
		case <-l.over:
			return
		case <-timer.C:
			l.append(false)
		}
	}
}

// finish appends what is left, for as long as the lease allows.
func (l *appends) finish() {
	timer := time.AfterFunc(min(lastAppend, boottime.Until(l.lease.until())-reportTime), l.give)
	defer timer.Stop()
	close(l.over)
	<-l.ended
	for l.append(true) {
	}
	l.give()
}

// abandon appends nothing more: the lease is gone.
func (l *appends) abandon() {
	l.give()
	close(l.over)
	<-l.ended
}

// append sends one part, the same again if its answer did not come. It tells
// whether the server has taken one.
func (l *appends) append(last bool) bool {
	if l.refused || l.requests.Err() != nil || boottime.Now() < boottime.Instant(l.noLogs.Load()) {
		return false
	}
	if l.part.text == "" {
		if l.part = l.printed.part(last); l.part.text == "" {
			return false
		}
		l.seq++
	}
	err := l.send()
	switch {
	case err == nil:
		l.part = part{}
		return true
	case api.Status(err) == http.StatusNotFound:
		if l.noLogs.Swap(int64(boottime.Now().Add(logsAgain))) == 0 {
			l.worker.Log.Warn("the server keeps no log of what commands print", "error", err.Error())
		}
	case api.Retry(err):
	case api.Foreign(err): // a filter on the way, perhaps for what this part says
		l.attempt.log.Warn("a part of the log is turned away: leaving it out", "error", err.Error())
		l.printed.omit(l.part)
		l.part = part{}
		return true
	default:
		l.refused = true
		l.attempt.log.Warn("what the command prints is kept no more", "error", err.Error())
	}
	return false
}

func (l *appends) send() error {
	ctx, cancel := context.WithTimeout(l.requests, appendTime)
	defer cancel()
	contentType, body := api.Body(client.AppendJobLogRequest{
		LeaseToken: l.job.LeaseToken, Seq: l.seq, Text: l.part.text, SkippedBytes: &l.part.skipped,
	})
	_, err := api.Answer[json.RawMessage](l.API.AppendJobLogWithBody(ctx, l.job.ID, contentType, body))
	return err
}
