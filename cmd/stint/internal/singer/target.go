package singer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/ingest"
	"github.com/stint-run/stint/server/records"
)

// MaxMessage is the longest line that a tap may send, in bytes. The server rejects a
// record of more than 1 MiB alone; what a message is of that is too long to be read,
// nobody knows.
const MaxMessage = 4 << 20

// flushAfter is how long a line waits at most for others that go with it.
const flushAfter = 5 * time.Second

// Destination is where a target brings what the tap says.
type Destination interface {
	// Declare makes the connector declare the stream, and tells whether records of it
	// can be removed.
	Declare(ctx context.Context, s Schema) (mutable bool, err error)
	// Refresh begins the full refresh of a stream: what is not sent from now on is
	// removed when the run has succeeded.
	Refresh(ctx context.Context, stream string) error
	// Send makes the lines durable.
	Send(ctx context.Context, b *ingest.Batch) (*ingest.Answer, error)
}

// Target takes the messages of a tap.
type Target struct {
	to      Destination
	states  io.Writer
	note    func(string)
	batch   *ingest.Batch // of records
	marks   *ingest.Batch // of states, which goes when the records are durable
	pending []state       // whose lines are in marks
	lost    error         // a record that the server rejected and does not keep
	streams map[string]*stream
	line    int64 // of the message at hand
}

// state is the value of a STATE, and the place of its line in marks.
type state struct {
	index int
	line  int64
	value json.RawMessage
}

// New is a target that writes the states of the tap to states, one a line, when
// what came before them is durable. known are the streams of the connection.
func New(to Destination, states io.Writer, known map[string]Known, note func(string)) *Target {
	t := &Target{to: to, states: states, note: note, batch: &ingest.Batch{N: 1}, marks: &ingest.Batch{}, streams: map[string]*stream{}}
	for name, k := range known {
		t.streams[name] = &stream{name: name, Known: k}
	}
	return t
}

// Run takes all messages. Its error is that of the destination, or says which line
// is no message; what came before is then durable.
func (t *Target) Run(ctx context.Context, lines <-chan ingest.Line) error {
	timer := time.NewTimer(flushAfter)
	defer timer.Stop()
	for {
		if t.batch.Empty() && t.marks.Empty() {
			timer.Reset(flushAfter)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
			if err := t.flush(ctx); err != nil {
				return err
			}
		case line, more := <-lines:
			if !more {
				return t.flush(ctx)
			}
			if err := t.take(ctx, line); err != nil {
				return err
			}
		}
	}
}

// take takes a line. One that the tap should not have sent is the end, but not of what
// came before.
func (t *Target) take(ctx context.Context, line ingest.Line) error {
	t.line = line.N
	err := t.read(ctx, line)
	if _, tapped := errors.AsType[*fault](err); tapped || line.Err != nil {
		if failed := t.flush(ctx); failed != nil {
			return failed
		}
	}
	return err
}

// fault is what is wrong with a line of the tap.
type fault struct {
	line int64
	what error
}

func (f *fault) Error() string { return fmt.Sprintf("line %d of the tap: %v", f.line, f.what) }
func (f *fault) Unwrap() error { return f.what }

func (t *Target) faultf(format string, args ...any) error {
	return &fault{t.line, fmt.Errorf(format, args...)}
}

func (t *Target) read(ctx context.Context, line ingest.Line) error {
	switch {
	case line.Err != nil:
		return line.Err
	case line.Raw == nil:
		return t.faultf("%d bytes, more than 4 MiB", line.Size)
	}
	m, err := parse(line.Raw)
	if err != nil {
		return &fault{t.line, err}
	}
	return t.handle(ctx, m)
}

func (t *Target) handle(ctx context.Context, m message) error {
	switch m.Type {
	case typeSchema:
		return t.declare(ctx, schemaOf(m))
	case typeRecord:
		return t.record(ctx, m)
	case typeState:
		return t.state(ctx, m.Value)
	case typeActivate:
		return t.activate(ctx, m)
	}
	t.note(fmt.Sprintf("line %d of the tap: a message of the type %q says nothing to a target", t.line, m.Type))
	return nil
}

// declare makes a stream known. Records that came before have the key that was
// declared then.
func (t *Target) declare(ctx context.Context, s Schema) error {
	if err := t.flush(ctx); err != nil {
		return err
	}
	mutable, err := t.to.Declare(ctx, s)
	if err != nil {
		return fmt.Errorf("declare the stream %s (line %d of the tap): %w", s.Stream, t.line, err)
	}
	known := t.stream(s.Stream)
	known.Declared, known.Mutable = true, mutable
	return nil
}

func (t *Target) stream(name string) *stream {
	s, ok := t.streams[name]
	if !ok {
		s = &stream{name: name}
		t.streams[name] = s
	}
	return s
}

// record takes a record. A stream without a SCHEMA is without a schema, as the
// specification has it: it has no key that we know.
func (t *Target) record(ctx context.Context, m message) error {
	s := t.stream(m.Stream)
	if !s.Declared {
		if err := t.declare(ctx, Schema{Stream: m.Stream, Key: []string{}}); err != nil {
			return err
		}
	}
	if m.Version != nil {
		if err := t.begin(ctx, s, *m.Version); err != nil {
			return err
		}
	}
	s.activated = false
	return t.add(ctx, recordLine{Stream: m.Stream, Data: m.Record, EmittedAt: m.TimeExtracted})
}

type recordLine struct {
	Stream    string          `json:"stream"`
	Data      json.RawMessage `json:"data"`
	EmittedAt *string         `json:"emitted_at,omitempty"`
}

type checkpointLine struct {
	Stream     string          `json:"stream,omitempty"`
	Checkpoint json.RawMessage `json:"checkpoint"`
}

func (t *Target) state(ctx context.Context, value json.RawMessage) error {
	if len(value) > records.MaxCheckpoint {
		return t.faultf("a STATE of %d bytes, more than 256 KiB", len(value))
	}
	raw := text(checkpointLine{Checkpoint: value})
	if !t.marks.Fits(raw) {
		if err := t.flush(ctx); err != nil {
			return err
		}
	}
	t.marks.Add(t.line, raw)
	t.pending = append(t.pending, state{index: len(t.marks.Lines) - 1, line: t.line, value: value})
	return nil
}

// add puts a line into the batch, behind those of one that is full.
func (t *Target) add(ctx context.Context, line any) error {
	raw := text(line)
	if !t.batch.Fits(raw) {
		if err := t.flush(ctx); err != nil {
			return err
		}
	}
	t.batch.Add(t.line, raw)
	return nil
}

// flush makes the records durable, and then the states behind them.
func (t *Target) flush(ctx context.Context) error {
	if err := t.sendRecords(ctx); err != nil || t.marks.Empty() {
		return err
	}
	if t.lost != nil {
		return fmt.Errorf("line %d of the tap: a STATE behind a record that is lost: %w", t.pending[0].line, t.lost)
	}
	return t.sendStates(ctx)
}

func (t *Target) sendRecords(ctx context.Context) error {
	if t.batch.Empty() {
		return nil
	}
	answer, err := t.to.Send(ctx, t.batch)
	if err != nil {
		return err
	}
	if t.lost == nil {
		t.lost = answer.Lost(t.batch)
	}
	t.batch = t.batch.Next()
	return nil
}

// sendStates sends the states in a batch of their own: in one with records that are
// lost the server would keep them all the same.
func (t *Target) sendStates(ctx context.Context) error {
	t.marks.N, t.batch.N = t.batch.N, t.batch.N+1
	answer, err := t.to.Send(ctx, t.marks)
	if err != nil {
		return err
	}
	for _, s := range t.pending {
		if err := answer.Rejects(s.index); err != nil {
			return fmt.Errorf("line %d of the tap: the STATE was not taken: %w", s.line, err)
		}
		if _, err := fmt.Fprintf(t.states, "%s\n", text(s.value)); err != nil {
			return fmt.Errorf("write a state: %w", err)
		}
	}
	t.marks, t.pending = t.marks.Next(), t.pending[:0]
	return nil
}
