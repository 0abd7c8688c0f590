package ingest

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
)

// lease of a run, in seconds, and how often it is extended. A run that was killed
// stands in the way of the next one for so long.
const (
	lease = 30
	beat  = lease * time.Second / 3
)

// Run is a run of a connection, kept alive until Finish.
type Run struct {
	ID         string
	Generation int64
	Connection string // its id

	api  *client.Client
	away func(error)
	stop context.CancelFunc
	done chan struct{} // closed when it is kept alive no longer
}

// Start begins a run, in which those streams are read whole. While another run is
// active it waits, at least for as long as one that was killed is in the way. The
// context that it returns ends when the run is not ours any more.
func Start(ctx context.Context, c *client.Client, connection string, fullRefresh []string, away func(error)) (*Run, context.Context, error) {
	external := uuid.NewString() // a start whose answer was lost is met again
	in := client.StartRunRequest{ConnectionID: connection, Kind: client.StartRunRequestKindManual, ExternalRunID: &external, LeaseSeconds: new(int64(lease))}
	if len(fullRefresh) > 0 {
		in.FullRefresh = &fullRefresh
	}
	got, err := repeat(ctx, away, func() (client.Started, error) {
		done, err := api.Answer[client.Started](c.StartRun(ctx, nil, in))
		return done.Value, err
	}, waits)
	if err != nil {
		return nil, nil, err
	}
	r := &Run{ID: got.Run.ID, Generation: got.Generation, api: c, away: away, done: make(chan struct{})}
	if got.Run.ConnectionID != nil {
		connection = *got.Run.ConnectionID
	}
	r.Connection = connection
	within, lost := context.WithCancelCause(ctx)
	beating, stop := context.WithCancel(within)
	r.stop = stop
	go r.keep(beating, lost)
	return r, within, nil
}

// waits tells whether a run may begin later: another is active, or the last refresh
// of a stream still removes.
func waits(err error) bool {
	p, refused := errors.AsType[*api.Problem](err)
	return mends(err) || refused && (p.Code == "run_already_active" || p.RetryAfter > 0)
}

// keep extends the lease. What the server refuses is the end of the run; while it is
// away the run may go on.
func (r *Run) keep(ctx context.Context, lost context.CancelCauseFunc) {
	defer close(r.done)
	for api.Pause(ctx, beat) {
		err := r.heartbeat(ctx, nil)
		if err != nil && ctx.Err() == nil && !api.Retry(err) {
			lost(err)
			return
		}
	}
}

func (r *Run) heartbeat(ctx context.Context, fullRefresh *[]string) error {
	in := client.HeartbeatRunRequest{Generation: r.Generation, LeaseSeconds: new(int64(lease)), FullRefresh: fullRefresh}
	_, err := api.Answer[client.HeartbeatRunAnswer](r.api.HeartbeatRun(ctx, r.ID, nil, in))
	return err
}

// Refresh makes the run read one more stream whole: what is not sent from now on is
// removed when it has succeeded.
func (r *Run) Refresh(ctx context.Context, stream string) error {
	refresh := func() (struct{}, error) { return struct{}{}, r.heartbeat(ctx, &[]string{stream}) }
	_, err := repeat(ctx, r.away, refresh, waits)
	return err
}

// End is how a run ended. Err, if there is one, is why.
type End struct {
	Status client.FinishRunRequestStatus
	Reason string
	Err    error
}

// Finish ends the run.
func (r *Run) Finish(ctx context.Context, end End) error {
	r.stop()
	<-r.done
	in := client.FinishRunRequest{Generation: r.Generation, Status: end.Status}
	if end.Reason != "" {
		in.TerminalReason = &end.Reason
	}
	if end.Err != nil {
		in.Error = &client.RunError{Code: "ingest_failed", Message: end.Err.Error()}
	}
	_, err := repeat(ctx, r.away, func() (client.FinishedRun, error) {
		done, err := api.Answer[client.FinishedRun](r.api.FinishRun(ctx, r.ID, nil, in))
		return done.Value, err
	}, mends)
	return err
}
