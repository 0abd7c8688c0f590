// Package ingest sends lines to a connection's records: in batches, again while the
// server is away, and within a run if that is wanted.
package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/stint-run/stint/server/ndjson"
)

// Line is a line of the input that is not blank. Raw is nil when it is too long. Err,
// other than nil, ends the input.
type Line struct {
	N    int64 // from 1; blank lines count
	Raw  []byte
	Size int64
	Err  error
}

// Lines reads r, one line ahead, until it or ctx ends. A line of more than limit bytes
// is too long, and not held.
func Lines(ctx context.Context, r io.Reader, limit int) <-chan Line {
	out := make(chan Line)
	go func() {
		defer close(out)
		for items := ndjson.Lines(r, limit); ; {
			it, err := items.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			line := Line{N: it.Index + 1, Raw: it.Raw, Size: it.Size}
			if err != nil {
				line = Line{Err: fmt.Errorf("read the lines: %w", err)}
			}
			select {
			case out <- line:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return out
}

// Bounds of a batch: lines, and bytes. A server that is asked for no more answers
// soon, and a batch that is sent again costs little.
const (
	maxLines = 1000
	maxBody  = 8 << 20
)

// Batch is what goes in one request.
type Batch struct {
	N     int // of the batch, from 1
	Body  []byte
	Lines []int64 // the number of each of its lines in the input
}

// Fits tells whether the batch has room for that line too.
func (b *Batch) Fits(line []byte) bool {
	return len(b.Lines) < maxLines && len(b.Body)+len(line)+1 <= maxBody
}

// Add adds a line of the input.
func (b *Batch) Add(n int64, line []byte) {
	b.Body = append(append(b.Body, line...), '\n')
	b.Lines = append(b.Lines, n)
}

// Empty tells whether there is nothing to send.
func (b *Batch) Empty() bool { return len(b.Lines) == 0 }

// Next is the batch that follows. It takes over the room of this one.
func (b *Batch) Next() *Batch {
	return &Batch{N: b.N + 1, Body: b.Body[:0], Lines: b.Lines[:0]}
}

// sum is the hash of the body, in hex.
func (b *Batch) sum() string { return hexOf(sha256.Sum256(b.Body)) }

// id names the batch by what it is, so that the server knows it when the same
// input is sent again. With a salt, as the id of a run, it is known only there.
func (b *Batch) id(salt string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d\n", salt, b.N)
	h.Write(b.Body)
	return hex.EncodeToString(h.Sum(nil))[:idLength]
}

// idLength is enough that no two batches of a connection have one id.
const idLength = 40

func hexOf(sum [sha256.Size]byte) string { return hex.EncodeToString(sum[:]) }

// Each cuts the input into batches, always at the same lines, and passes each to
// send. The next batch takes the room of one that was sent. A line that is too long
// is not sent; long is told.
func Each(ctx context.Context, lines <-chan Line, send func(*Batch) error, long func(Line)) error {
	b := &Batch{N: 1}
	for line := range lines {
		switch {
		case line.Err != nil:
			return line.Err
		case line.Raw == nil:
			long(line)
			continue
		case !b.Fits(line.Raw):
			if err := send(b); err != nil {
				return err
			}
			b = b.Next()
		}
		b.Add(line.N, line.Raw)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if b.Empty() {
		return nil
	}
	return send(b)
}
