package web

import (
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/stint-run/stint/server/fault"
)

// readBody reads the body whole, within the route's bound, and puts the
// compacted text in its place; what the gate and the schema find wrong is
// collected. A body that is a stream is left to its handler.
func (a *API) readBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := stateOf(r.Context())
		if s.route == nil {
			next.ServeHTTP(w, r)
			return
		}
		if s.route.op.line != nil {
			if err := a.openBody(r); err != nil {
				a.fail(w, r, err)
				return
			}
			next.ServeHTTP(w, r)
			return
		}
		body, err := receive(w, r, s.route.op.maxBody())
		if err != nil {
			a.fail(w, r, err)
			return
		}
		s.body = body
		compact, err := a.checkBody(r.Context(), s, body)
		if err != nil {
			a.fail(w, r, err)
			return
		}
		r.Header.Set("Content-Type", jsonType) // huma reads no other spelling
		r.Body = io.NopCloser(bytes.NewReader(compact))
		r.ContentLength = int64(len(compact))
		next.ServeHTTP(w, r)
	})
}

// checkBody collects the body's faults and returns its compacted text; nil for one
// that is refused unread. Its error is that of a request which ended meanwhile.
func (a *API) checkBody(ctx context.Context, s *request, body []byte) ([]byte, error) {
	if len(body) == 0 {
		if s.route.needBody {
			s.unparsable = true
			s.add(fault.Item{In: fault.InBody, Detail: "the body is empty"})
		}
		return nil, nil
	}
	schema := cmp.Or(s.route.schema, noBody)
	text, err := a.parse(ctx, schema, body, "the body")
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		s.unparsable = true
		s.add(fault.Item{In: fault.InBody, Detail: err.Error()})
		return nil, nil
	}
	s.add(text.faults...)
	if !text.partial {
		s.add(a.validate(schema, text.tree)...)
	}
	if text.cut {
		return nil, nil
	}
	return text.compact, nil
}

// receive reads a body: one JSON media type, plain or compressed once with
// gzip, at most limit bytes both on the wire and after decompression.
func receive(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if !hasBody(r) {
		return nil, nil
	}
	_, zipped, err := form(r.Header, jsonType)
	if err != nil {
		return nil, err
	}
	if r.ContentLength > limit {
		return nil, fault.TooLarge(limit)
	}
	body, err := readAll(http.MaxBytesReader(w, r.Body, limit), zipped, limit)
	if err != nil {
		return nil, bodyFault(err, limit)
	}
	// The body is whole: its deadline would only cut off a handler that waits.
	// net/http lifts it too once a body is read, but does not promise to.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	return body, nil
}

var errTooLarge = errors.New("body exceeds its bound")

func readAll(r io.Reader, zipped bool, limit int64) ([]byte, error) {
	if zipped {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, err
		}
		r = z
	}
	body, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(body)) > limit {
		err = errTooLarge
	}
	return body, err
}

// bodyFault is what to answer where a body cannot be read.
func bodyFault(err error, limit int64) error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.Is(err, errTooLarge), errors.As(err, &tooLarge):
		return fault.TooLarge(limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fault.BodyTimeout()
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), isCorrupt(err):
		return fault.Unparsable("the body is not gzip")
	}
	return fault.Unparsable("the body could not be read to its end").Because(err)
}

func isCorrupt(err error) bool {
	_, ok := errors.AsType[flate.CorruptInputError](err)
	return ok
}

// form is the media type of a body, one of those that its route takes, and whether
// it is compressed.
func form(h http.Header, taken ...string) (media string, zipped bool, err error) {
	media = mediaOf(h.Values("Content-Type"))
	if !slices.Contains(taken, media) {
		return "", false, fault.UnsupportedMedia("A body needs Content-Type: " + strings.Join(taken, " or ") + "; its charset, if named, is utf-8.")
	}
	zipped, ok := encoding(h.Values("Content-Encoding"))
	if !ok {
		return "", false, fault.UnsupportedMedia("A body is sent plain, or compressed once with Content-Encoding: gzip.")
	}
	return media, zipped, nil
}

// mediaOf is the media type that a header names, if its text is UTF-8; else nothing.
func mediaOf(headers []string) string {
	if len(headers) != 1 {
		return ""
	}
	media, params, err := mime.ParseMediaType(headers[0])
	charset, ok := params["charset"]
	if err != nil || len(params) > 1 || len(params) == 1 && !(ok && strings.EqualFold(charset, "utf-8")) {
		return ""
	}
	return media
}

// encoding reports whether a body is compressed; ok is false for anything but
// plain and gzip.
func encoding(headers []string) (zipped, ok bool) {
	switch {
	case len(headers) == 0:
		return false, true
	case len(headers) == 1 && strings.EqualFold(headers[0], "gzip"):
		return true, true
	}
	return false, false
}
