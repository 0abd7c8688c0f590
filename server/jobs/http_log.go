package jobs

import (
	"context"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/web"
)

type logInput struct {
	ID   string `path:"id"`
	Body struct {
		LeaseToken   string        `json:"lease_token" maxLength:"128"`
		Seq          int64         `json:"seq" minimum:"1" doc:"Rises with each append of an attempt. One that is not above the last changes nothing."`
		Text         web.CleanText `json:"text" maxBytes:"body" doc:"What the attempt printed since the last append. Only the last 64 KiB are kept."`
		SkippedBytes int64         `json:"skipped_bytes,omitempty" minimum:"0" maximum:"1099511627776" doc:"How many bytes you left out before text. Output before that gap is no longer shown. Absent: 0."`
	}
}

type logAnswer struct {
	RunID     string `json:"run_id"`
	Seq       int64  `json:"seq" doc:"Of the last append of this attempt."`
	Duplicate bool   `json:"duplicate" doc:"true: seq was not above the last one, and nothing was changed."`
	CutBytes  int64  `json:"cut_bytes" doc:"How much of the beginning of text was not kept."`
}

func (h *routes) appendLog(ctx context.Context, q model.Querier, now coltype.Time, in *logInput) (web.Answer[logAnswer], error) {
	done, err := AppendLog(ctx, q, now, runs.AppendIn{
		OwnerID: web.Caller(ctx).OwnerID, JobID: in.ID, LeaseToken: in.Body.LeaseToken,
		Seq: in.Body.Seq, Skipped: in.Body.SkippedBytes, Text: string(in.Body.Text),
	})
	return web.Answer[logAnswer]{Body: logAnswer{RunID: done.RunID, Seq: done.Seq, Duplicate: done.Duplicate, CutBytes: done.Cut}}, err
}
