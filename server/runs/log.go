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

// leastPiece is how many bytes a piece of a log counts at least: LogBytes bounds the
// rows of an attempt too.
const leastPiece = 64

// AppendIn adds to what an attempt printed.
type AppendIn struct {
	OwnerID    string
	JobID      string
	LeaseToken string
	Seq        int64 // one that is not above the last changes nothing
	Skipped    int64 // bytes that the sender left out before Text; what came before them goes
	Text       string
}

// Appended is what became of an append.
type Appended struct {
	RunID     string
	Seq       int64 // the last one
	Duplicate bool  // nothing was added
	Cut       int64 // bytes at the beginning of the text that were not kept
}

// Append adds to what the running attempt under a lease token printed; without such
// an attempt its error is store.NotFound. It locks the run and not the job, so it
// never waits for a heartbeat. The end of the attempt and the next append wait for it.
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
	return in.add(ctx, q, now, runID, last)
}

// add adds the end of the text behind the last piece, and deletes the pieces
// that are no longer a part of the end of what was printed: those wholly before the
// last LogBytes, and all of them when something is missing between.
func (in AppendIn) add(ctx context.Context, q model.Querier, now coltype.Time, runID string, last model.RunLogLastRow) (Appended, error) {
	text := tail(in.Text, LogBytes)
	cut := int64(len(in.Text) - len(text))
	place := last.Place + max(int64(len(text)), leastPiece)
	err := q.RunLogInsert(ctx, model.RunLogInsertParams{
		RunID: runID, Place: place, Seq: in.Seq, Text: text,
		EndsAtByte: last.EndsAtByte + in.Skipped + int64(len(in.Text)), Now: now,
	})
	if err != nil {
		return Appended{}, fmt.Errorf("append to the log of %s: %w", runID, err)
	}
	before := place - LogBytes
	if in.Skipped+cut > 0 {
		before = last.Place
	}
	if before > 0 {
		if err := q.RunLogTrim(ctx, model.RunLogTrimParams{RunID: runID, Above: last.Place - LogBytes, Place: before}); err != nil {
			return Appended{}, fmt.Errorf("trim the log of %s: %w", runID, err)
		}
	}
	return Appended{RunID: runID, Seq: in.Seq, Cut: cut}, nil
}

// Log is what an attempt printed last.
type Log struct {
	Text  string       // its end without a gap: at most LogBytes, from the beginning of a character on
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
