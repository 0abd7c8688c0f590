package records

import (
	"context"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/web"
)

type rejectionsInput struct {
	web.ShortPageQuery
	Connection string `path:"connection"`
}

// rejectionJSON is a refused line without its bytes.
type rejectionJSON struct {
	ID        string       `json:"id"`
	Stream    *string      `json:"stream" nullable:"true"`
	Index     int64        `json:"index" doc:"Of the line in its body, from 0."`
	BatchID   *string      `json:"batch_id" nullable:"true"`
	RunID     *string      `json:"run_id" nullable:"true"`
	Code      string       `json:"code" enum:"line_too_large,invalid_json,invalid_record,unknown_stream,key_missing,key_mismatch,key_too_long"`
	Detail    string       `json:"detail"`
	LineBytes int64        `json:"line_bytes"`
	CreatedAt coltype.Time `json:"created_at"`
}

var listedRejections = web.ListOf[rejectionsInput, model.RejectionPageRow, rejectionJSON]{
	Kind: "rejections", Order: web.Newest,
	Page: func(ctx context.Context, q model.Reader, in *rejectionsInput, w web.Window) ([]model.RejectionPageRow, *keyset.Position, error) {
		c, err := of(ctx, q, in.Connection)
		if err != nil {
			return nil, nil, err
		}
		return Rejections.Page(ctx, q, c, w.Position, w.Limit)
	},
	Item: func(r model.RejectionPageRow, _ coltype.Time) rejectionJSON {
		return rejectionJSON{
			ID: r.ID, Stream: r.Stream, Index: r.LineIndex, BatchID: r.BatchID, RunID: r.RunID,
			Code: r.Code, Detail: r.Detail, LineBytes: r.LineBytes, CreatedAt: r.CreatedAt,
		}
	},
}

type rejectionInput struct {
	Connection string `path:"connection"`
	ID         string `path:"id"`
}

// rejectionDetailJSON is a refused line.
type rejectionDetailJSON struct {
	rejectionJSON
	Line *string `json:"line" nullable:"true" doc:"Its bytes as they came, in base64; null for one that was too long to be held."`
}

func getRejection(ctx context.Context, q model.Reader, _ coltype.Time, in *rejectionInput) (*rejectionDetailJSON, error) {
	c, err := of(ctx, q, in.Connection)
	if err != nil {
		return nil, err
	}
	r, err := Rejection(ctx, q, c, in.ID)
	if err != nil {
		return nil, err
	}
	return &rejectionDetailJSON{Line: r.Line, rejectionJSON: rejectionJSON{
		ID: r.ID, Stream: r.Stream, Index: r.LineIndex, BatchID: r.BatchID, RunID: r.RunID,
		Code: r.Code, Detail: r.Detail, LineBytes: r.LineBytes, CreatedAt: r.CreatedAt,
	}}, nil
}

type discardedJSON struct {
	Discarded int64 `json:"discarded"`
}

func discardAll(ctx context.Context, q model.Querier, now coltype.Time, in *connectionInput) (web.Answer[discardedJSON], error) {
	return discard(ctx, q, now, in.Connection, "")
}

func discardOne(ctx context.Context, q model.Querier, now coltype.Time, in *rejectionInput) (web.Answer[discardedJSON], error) {
	out, err := discard(ctx, q, now, in.Connection, in.ID)
	if err == nil && out.Body.Discarded == 0 {
		err = fault.NotFound()
	}
	return out, err
}

func discard(ctx context.Context, q model.Querier, now coltype.Time, selector, rejectionID string) (web.Answer[discardedJSON], error) {
	c, err := of(ctx, q, selector)
	if err != nil {
		return web.Answer[discardedJSON]{}, err
	}
	n, err := Discard(ctx, q, now, c, rejectionID)
	return web.Answer[discardedJSON]{Body: discardedJSON{Discarded: n}}, err
}
