package records

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/ndjson"
	"github.com/stint-run/stint/server/sources"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/web"
)

// Routes adds the routes of records. The store may be nil for a server that is asked
// for its document only.
func Routes(a *web.API, s *store.Store) {
	ingestRoute(a, newIngest(a, s))
	readRoutes(a)
}

func ingestRoute(a *web.API, g *ingest) {
	web.Upload(a, web.Op{
		Method: http.MethodPost, Path: "/v1/connections/{connection}/records", ID: "ingest-records", Tag: "records",
		Summary: "Write records of a connection, a line each",
		Description: "Lines come as newline-delimited JSON or as the elements of one array, of at most 1 MiB each; the body may be of any length. " +
			"They are written in chunks of up to 1,000: when a request breaks off, the chunks before are durable, and sending all of it again writes each record once. " +
			"With batch_id the body is of at most 50 MiB, is held against Content-SHA256 before anything is written, and is resumed when it is sent again; once accepted, its answer is kept, and comes again with Idempotent-Replayed: true.",
		Scope:  web.ScopeRecordsWrite,
		Faults: []string{"ambiguous", "batch_conflict", "batch_in_progress", "connection_revoked", "draining", "hash_mismatch", "run_not_active"},
	}, g.post)
}

type ingestInput struct {
	Connection string `path:"connection" doc:"The id of a connection, or of a connector with exactly one that is not revoked."`
	BatchID    string `query:"batch_id" pattern:"^[!-~]{1,255}$" maxLength:"255" doc:"Names the body, for this connection. A batch is written once, however often it is sent."`
	Device     string `query:"device" maxLength:"255" doc:"Who sends the batch, as people read it."`
	RunID      string `query:"run_id" maxLength:"255" doc:"The run that brings the lines. It must be running, with that generation."`
	Generation int64  `query:"generation" minimum:"1" doc:"Of run_id, as its start told."`
	Hash       string `header:"Content-SHA256" pattern:"^[0-9a-f]{64}$" maxLength:"64" doc:"SHA-256 of the body before it is compressed, in lower-case hexadecimal. Required with batch_id."`
}

// Faults are those of members that need each other.
func (in *ingestInput) Faults() (items []fault.Item) {
	wrong := func(place, name, detail string) {
		items = append(items, fault.Item{In: place, Pointer: "/" + name, Detail: detail})
	}
	switch {
	case in.BatchID != "" && in.Hash == "":
		wrong(fault.InHeader, "Content-SHA256", "a batch needs the SHA-256 of its body")
	case in.BatchID == "" && in.Hash != "":
		wrong(fault.InHeader, "Content-SHA256", "only the body of a batch is held against a hash: name a batch_id")
	}
	if in.BatchID == "" && in.Device != "" {
		wrong(fault.InQuery, "device", "a device sends batches: name a batch_id")
	}
	if detail := control.NameFault(in.Device); in.Device != "" && detail != "" {
		wrong(fault.InQuery, "device", detail)
	}
	switch {
	case in.RunID != "" && in.Generation == 0:
		wrong(fault.InQuery, "generation", "a run is named with its generation")
	case in.RunID == "" && in.Generation != 0:
		wrong(fault.InQuery, "run_id", "a generation is of a run")
	}
	return items
}

// recordLineJSON is one line: a record to be written or deleted, or a checkpoint.
type recordLineJSON struct {
	Stream     string       `json:"stream,omitempty" pattern:"^[A-Za-z0-9_][A-Za-z0-9_.-]*$" maxLength:"128" doc:"One that the connector declares. Required, except with a checkpoint of all streams."`
	Op         string       `json:"op,omitempty" enum:"upsert,delete" doc:"Absent: upsert."`
	Key        string       `json:"key,omitempty" maxLength:"1048576" doc:"Of the record, at most 512 bytes: the text of its key field, or a JSON array of texts for several. Required for a delete without data; otherwise it must be that of the data."`
	Data       coltype.JSON `json:"data,omitempty" maxBytes:"body" doc:"The record, an object. Required for an upsert."`
	EmittedAt  coltype.Time `json:"emitted_at,omitempty" doc:"When the source told of it."`
	Checkpoint coltype.JSON `json:"checkpoint,omitempty" maxBytes:"262144" doc:"Where the source was read up to, as its connector says it, at most 256 KiB: durable with the lines before it. Alone, or with a stream."`
}

// Faults are those of members that exclude or need each other.
func (l *recordLineJSON) Faults() (items []fault.Item) {
	if l.Checkpoint == nil {
		if l.Stream == "" {
			items = append(items, fault.Item{Pointer: "/stream", Detail: "the member is required"})
		}
		return items
	}
	for name, given := range map[string]bool{"data": l.Data != nil, "key": l.Key != "", "op": l.Op != "", "emitted_at": !l.EmittedAt.IsZero()} {
		if given {
			items = append(items, fault.Item{Pointer: "/" + name, Detail: "a checkpoint stands alone in its line"})
		}
	}
	return items
}

type ingestAnswer struct {
	Accepted      int64         `json:"accepted" doc:"Lines that changed a record."`
	Unchanged     int64         `json:"unchanged" doc:"Lines that found their record as they say."`
	Checkpoints   int64         `json:"checkpoints"`
	RejectedCount int64         `json:"rejected_count"`
	Rejected      []Rejected    `json:"rejected" doc:"The first 1,000 of them."`
	Lines         int64         `json:"lines" doc:"All of these, without blank lines."`
	Batch         *ingestedJSON `json:"batch" doc:"null without batch_id."`
}

// ingestedJSON is the batch that a body was.
type ingestedJSON struct {
	ID     string  `json:"id"`
	State  string  `json:"state" enum:"processing,accepted"`
	Device *string `json:"device" nullable:"true"`
}

func (g *ingest) post(ctx context.Context, in *ingestInput, body *web.Body[recordLineJSON]) (web.Uploaded[ingestAnswer], error) {
	none := web.Uploaded[ingestAnswer]{}
	owner := web.Caller(ctx).OwnerID
	c, err := sources.Resolve(ctx, g.store, owner, in.Connection)
	if err != nil {
		return none, err
	}
	to := Target{OwnerID: owner, ConnectionID: c.ID, RunID: in.RunID, Generation: in.Generation, BatchID: in.BatchID}
	split := func(r io.Reader) ndjson.Items { return body.Split(r, MaxLine) }
	parse := func(ctx context.Context, chunk []ndjson.Item) ([]Line, error) {
		lines := make([]Line, len(chunk))
		for i, it := range chunk {
			lines[i] = lineOf(ctx, body, it)
		}
		streams, err := sources.Streams(ctx, g.store, owner, c.ConnectorID)
		Prepare(lines, streams)
		return lines, err
	}
	if in.BatchID == "" {
		if err := admissible(ctx, g.store, c, to); err != nil {
			return none, err
		}
		tally, err := g.stream(ctx, to, split(body), parse)
		return web.Uploaded[ingestAnswer]{Body: answerOf(tally)}, err
	}
	if body.Size > MaxBatch {
		return none, fault.TooLarge(MaxBatch)
	}
	batch := newBatch(to, in.Device, in.Hash)
	answer, replayed, err := g.send(ctx, sending{batch: batch, split: split, parse: parse, answer: in.answer, renew: body.Renew}, c, body)
	return web.Uploaded[ingestAnswer]{Raw: answer, Replayed: replayed}, err
}

// answer is the answer to an accepted batch, as it is sent and kept.
func (in *ingestInput) answer(t Tally) ([]byte, error) {
	out := answerOf(t)
	out.Batch = &ingestedJSON{ID: in.BatchID, State: BatchAccepted, Device: orNil(in.Device)}
	return web.Encode(out)
}

func answerOf(t Tally) ingestAnswer {
	if t.Named == nil {
		t.Named = []Rejected{}
	}
	return ingestAnswer{
		Accepted: t.Accepted, Unchanged: t.Unchanged, Checkpoints: t.Checkpoints, RejectedCount: t.Refused, Rejected: t.Named,
		Lines: t.Accepted + t.Unchanged + t.Checkpoints + t.Refused,
	}
}

// lineOf reads a line.
func lineOf(ctx context.Context, body *web.Body[recordLineJSON], it ndjson.Item) Line {
	l := Line{Index: it.Index, Raw: it.Raw, Size: it.Size}
	if it.Raw == nil {
		l.Refused = refuse(LineTooLarge, "the line has %d bytes, and may have %d", it.Size, MaxLine)
		return l
	}
	in, faults, err := body.Parse(ctx, it.Raw)
	switch {
	case err != nil:
		l.Refused = refuse(InvalidJSON, "%v", err)
	case len(faults) > 0:
		l.Refused = refuse(InvalidRecord, "%s", wordsOf(faults))
	case len(in.Key) > MaxKey:
		l.Refused = refuse(KeyTooLong, "the key is longer than %d bytes", MaxKey)
	default:
		l.Stream, l.Op, l.Key, l.Data, l.EmittedAt, l.Checkpoint = in.Stream, in.Op, in.Key, in.Data, in.EmittedAt, in.Checkpoint
		if l.Op == "" && l.Checkpoint == nil {
			l.Op = Upsert
		}
	}
	return l
}

// What the detail of one refused line tells at most: an answer has many of them.
const (
	maxFaults = 3
	maxWords  = 400 // bytes
)

// wordsOf tells the faults of a line in one sentence. Their pointers hold names of the
// client's own, whose NUL no engine takes.
func wordsOf(items []fault.Item) string {
	var words []string
	for _, item := range items[:min(maxFaults, len(items))] {
		words = append(words, strings.TrimPrefix(item.Pointer+": "+item.Detail, ": "))
	}
	if n := len(items) - maxFaults; n > 0 {
		words = append(words, fmt.Sprintf("and %d faults more", n))
	}
	text := strings.ReplaceAll(strings.Join(words, "; "), "\x00", "\ufffd")
	return strings.ToValidUTF8(text[:min(len(text), maxWords)], "")
}
