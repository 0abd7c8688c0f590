package runs

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/store"
)

// LogBytes is how much is kept of what an attempt printed, and so of one append:
// the last bytes count.
const LogBytes = 64 << 10

// leastPiece is what a piece of a log counts as at least, so that LogBytes bounds
// the rows of an attempt too.
const leastPiece = 64

// AppendIn adds to what an attempt printed.
type AppendIn struct {
	OwnerID    string
	JobID      string
	LeaseToken string
	Seq        int64 // one that is not above the last changes nothing
	Skipped    int64 // bytes that the sender left out before Text
	Text       string
}

// Appended is what became of an append.
type Appended struct {
	RunID     string
	Seq       int64 // the last one
	Duplicate bool  // nothing was added
	Cut       int64 // bytes at the beginning of the text that were not kept
}

// Append adds to what the running attempt under a lease token printed, and deletes
// the pieces that lie wholly before the last LogBytes. A token that holds no
// running attempt is store.NotFound. It locks the run and not the job, so it never
// waits for a heartbeat; what ends the attempt, and the next append, wait for it.
func Append(ctx context.Context, q model.Querier, now coltype.Time, in AppendIn) (Appended, error) {
	hash := TokenHash(in.LeaseToken)
	runID, err := q.RunLockByToken(ctx, model.RunLockByTokenParams{JobID: &in.JobID, OwnerID: in.OwnerID, TokenHash: &hash})
	if err != nil {
		return Appended{}, err
	}
	last, err := q.RunLogLast(ctx, model.RunLogLastParams{RunID: runID})
	if err != nil && !store.NotFound(err) {
		return Appended{}, fmt.Errorf("find the end of the log of %s: %w", runID, err)
	}
	if in.Seq <= last.Seq {
		return Appended{RunID: runID, Seq: last.Seq, Duplicate: true}, nil
	}
	text := tail(in.Text, LogBytes)
	piece := model.RunLogInsertParams{
		RunID: runID, Place: last.Place + max(int64(len(text)), leastPiece), Seq: in.Seq, Text: text,
		EndsAtByte: last.EndsAtByte + in.Skipped + int64(len(in.Text)), Now: now,
	}
	done := Appended{RunID: runID, Seq: in.Seq, Cut: int64(len(in.Text) - len(text))}
	return done, addPiece(ctx, q, piece)
}

func addPiece(ctx context.Context, q model.Querier, piece model.RunLogInsertParams) error {
	if err := q.RunLogInsert(ctx, piece); err != nil {
		return fmt.Errorf("append to the log of %s: %w", piece.RunID, err)
	}
	if piece.Place <= LogBytes {
		return nil // no piece can be older
	}
	if err := q.RunLogTrim(ctx, model.RunLogTrimParams{RunID: piece.RunID, Place: piece.Place - LogBytes}); err != nil {
		return fmt.Errorf("trim the log of %s: %w", piece.RunID, err)
	}
	return nil
}

// Log is what an attempt printed last.
type Log struct {
	Text  string       // at most LogBytes, from the beginning of a character on
	Bytes int64        // of all that it printed
	Seq   int64        // of the last append, 0 without one
	At    coltype.Time // of the last append
}

// LogOf is the log of an owner's run; one that nothing was appended to is empty.
func LogOf(ctx context.Context, q model.Reader, ownerID, runID string) (Log, error) {
	run, err := Get(ctx, q, ownerID, runID)
	if err != nil {
		return Log{}, err
	}
	pieces, err := q.RunLogList(ctx, model.RunLogListParams{RunID: run.ID})
	if err != nil {
		return Log{}, fmt.Errorf("read the log of %s: %w", runID, err)
	}
	var log Log
	var text strings.Builder
	for _, p := range pieces {
		text.WriteString(p.Text)
		log.Bytes, log.Seq, log.At = p.EndsAtByte, p.Seq, p.CreatedAt
	}
	log.Text = tail(text.String(), LogBytes)
	return log, nil
}

// tail is the last n bytes of s, from the beginning of a character on.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s
}
