package runs

import (
	"context"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/web"
)

// logJSON is what is kept of what a run printed.
type logJSON struct {
	RunID     string       `json:"run_id"`
	Text      string       `json:"text" doc:"The end of what the run printed, without a gap: the last 64 KiB, from the beginning of a character on. Control characters are as they were sent: neutralise them where people read it."`
	Bytes     int64        `json:"bytes" doc:"Of all that the run printed."`
	CutBytes  int64        `json:"cut_bytes" doc:"Those before text, which are not kept."`
	Seq       int64        `json:"seq" doc:"Of the last append; 0 without one."`
	UpdatedAt coltype.Time `json:"updated_at" nullable:"true" doc:"Of the last append."`
}

func getLog(ctx context.Context, q model.Reader, _ coltype.Time, in *getInput) (*logJSON, error) {
	log, err := LogOf(ctx, q, web.Caller(ctx).OwnerID, in.ID)
	if err != nil {
		return nil, err
	}
	return &logJSON{
		RunID: in.ID, Text: log.Text, Bytes: log.Bytes, CutBytes: log.Bytes - int64(len(log.Text)),
		Seq: log.Seq, UpdatedAt: log.At,
	}, nil
}
