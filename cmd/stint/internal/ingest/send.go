package ingest

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
)

// retryFor is how long a request is sent again to a server that is away.
const retryFor = time.Minute

// mediaType of a batch's body.
const mediaType = "application/x-ndjson"

// Sender sends batches to a connection.
type Sender struct {
	API        *client.Client
	Connection string // an id, or a connector's id
	Device     *string
	Run        *Run        // nil: none
	Salt       string      // of the batches' ids; empty: the same input is known again
	Away       func(error) // is told of each try without an answer
}

// Send sends a batch until the server has taken it. It can be sent again by the same
// command later: the server answers an accepted batch as it did.
func (s *Sender) Send(ctx context.Context, b *Batch) (*Answer, error) {
	id, sum := b.id(s.Salt), b.sum()
	params := client.IngestRecordsParams{BatchID: &id, ContentSHA256: &sum, Device: s.Device}
	if s.Run != nil {
		params.RunID, params.Generation = &s.Run.ID, &s.Run.Generation
	}
	answer, err := repeat(ctx, s.Away, func() (*Answer, error) {
		done, err := api.Answer[Answer](s.API.IngestRecordsWithBody(ctx, s.Connection, &params, mediaType, bytes.NewReader(b.Body)))
		return &done.Value, err
	}, mends)
	if err != nil {
		return nil, err
	}
	return answer, answer.check(b)
}

// check refuses an answer about other lines.
func (a *Answer) check(b *Batch) error {
	n := int64(len(b.Lines))
	if sum := a.Accepted + a.Unchanged + a.Checkpoints + a.RejectedCount; sum != n {
		return fmt.Errorf("the answer is about %d lines, the batch has %d", sum, n)
	}
	for _, r := range a.Rejected {
		if r.Index < 0 || r.Index >= len(b.Lines) {
			return fmt.Errorf("the answer names line %d of a batch of %d", r.Index, n)
		}
	}
	return nil
}

// mends tells whether the same request may succeed later.
func mends(err error) bool { return api.Retry(err) && !api.Untrusted(err) }

// repeat repeats a call while its error may mend, for as long as retryFor.
func repeat[T any](ctx context.Context, away func(error), call func() (T, error), may func(error) bool) (T, error) {
	var pause api.Backoff
	for until := time.Now().Add(retryFor); ; {
		v, err := call()
		if err != nil && ctx.Err() != nil {
			return v, context.Cause(ctx)
		}
		if err == nil || !may(err) || time.Now().After(until) {
			return v, err
		}
		away(err)
		if !pause.Sleep(ctx, err) {
			return v, context.Cause(ctx)
		}
	}
}
