package web

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/ndjson"
)

const linesType = "application/x-ndjson"

// Body is the body of a request to a route of Upload: lines of type L, one a line
// of newline-delimited JSON, or the elements of one JSON array. It is read as it
// arrives, decompressed. An error of Read is a fault, except for io.EOF.
type Body[L any] struct {
	// Size is what the client announced, in bytes; -1 if it is compressed, or of no
	// announced size.
	Size int64

	parser[L]
	from  io.Reader
	array bool
	pace  *pace
}

// Read reads what has arrived.
func (b *Body[L]) Read(p []byte) (int, error) { return b.from.Read(p) }

// Renew begins the time of an answer anew, for a handler that has done a part of its
// work, as a read of the body does.
func (b *Body[L]) Renew() { b.pace.renew() }

// Split gives the lines of r, which is this body or a copy of it, of at most limit
// bytes each.
func (b *Body[L]) Split(r io.Reader, limit int) ndjson.Items {
	if b.array {
		return ndjson.Elements(r, limit)
	}
	return ndjson.Lines(r, limit)
}

// Uploaded is the outcome of an upload.
type Uploaded[O any] struct {
	Body     O
	Raw      []byte // sent in place of Body, byte for byte, unless nil; see Encode
	Replayed bool   // Raw is the answer to an earlier request
}

// Upload adds a route whose body is a stream, read by its handler in bounded memory:
// of type L a line, see Body, plain or compressed once with gzip. The body as a
// whole may be of any size and take any time. But a read fails that waits for longer
// than a body may take elsewhere (Op.BodyTime), and between two reads, and behind the
// last one, ctx leaves the time of an answer (Op.AnswerTime), see Renew. The handler may answer
// before it has read the body. There is no Idempotency-Key, and the transactions are
// the handler's.
func Upload[L, I, O any](a *API, op Op, fn func(ctx context.Context, in *I, body *Body[L]) (Uploaded[O], error)) {
	op.line, op.NoIdempotency = reflect.TypeFor[L](), true
	parse := newParser[L](a, op)
	register[I, O](a, op, true, func(ctx context.Context, in *I) *reply {
		s := stateOf(ctx)
		rep, err := upload(ctx, s, &Body[L]{Size: s.sent.size, parser: parse, from: s.sent, array: s.sent.array, pace: s.pace}, in, fn)
		if err != nil {
			return problemReply(explain(ctx, err), s.id)
		}
		return rep
	})
}

func upload[L, I, O any](ctx context.Context, s *request, body *Body[L], in *I, fn func(ctx context.Context, in *I, body *Body[L]) (Uploaded[O], error)) (*reply, error) {
	if _, err := s.idempotencyKey(s.route.op); err != nil {
		return nil, err
	}
	done, err := fn(ctx, in, body)
	if err != nil {
		return nil, err
	}
	if done.Raw != nil {
		header := http.Header{"Content-Type": {jsonType}}
		if done.Replayed {
			header.Set(replayedHeader, "true")
		}
		return &reply{status: s.route.op.status(), header: header, body: done.Raw}, nil
	}
	return jsonReply(s.route.op.status(), done.Body)
}

// lineBody documents the body of a route of Upload.
func (a *API) lineBody(op Op) *huma.RequestBody {
	line := a.bodySchema(op.line, op.ID+"-line")
	return &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		linesType: {Schema: line},
		jsonType:  {Schema: &huma.Schema{Type: huma.TypeArray, Items: line}},
	}}
}

// openBody sees to it that a route of Upload can read the body: its form is known,
// nothing is read.
func (a *API) openBody(r *http.Request) error {
	s := stateOf(r.Context())
	media, zipped, err := form(r.Header, linesType, jsonType)
	if err != nil {
		return err
	}
	s.sent = &streamed{from: &steady{body: r.Body, pace: s.pace}, array: media == jsonType, size: r.ContentLength}
	if zipped {
		s.sent.from, s.sent.size = &unzipped{from: s.sent.from}, -1
	}
	return nil
}

// streamed is a body that is read as it arrives. Its errors are faults.
type streamed struct {
	from  io.Reader
	array bool
	size  int64
}

func (b *streamed) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	var f *fault.Fault
	if !errors.As(err, &f) {
		err = bodyFault(err, 0)
	}
	return n, err
}

// unzipped decompresses a body. Its beginning is read with the first Read, so that
// an answer need not wait for it.
type unzipped struct {
	from io.Reader
	zip  *gzip.Reader
}

func (u *unzipped) Read(p []byte) (n int, err error) {
	if u.zip == nil {
		if u.zip, err = gzip.NewReader(u.from); err != nil {
			u.zip = nil
			return 0, noBytes(err)
		}
	}
	return u.zip.Read(p)
}

// noBytes tells a body without a byte from one that ended well: gzip has a beginning.
func noBytes(err error) error {
	if errors.Is(err, io.EOF) {
		return gzip.ErrHeader
	}
	return err
}
