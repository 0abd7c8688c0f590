package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

const (
	jsonType    = "application/json"
	problemType = "application/problem+json"
)

// Problem is the wire form of a fault (RFC 9457). Members that belong to some
// codes only are absent elsewhere.
type Problem struct {
	Type         string       `json:"type" format:"uri-reference" doc:"A page of this server about the code."`
	Title        string       `json:"title"`
	Status       int          `json:"status"`
	Detail       string       `json:"detail"`
	Code         string       `json:"code" doc:"What to decide by; the other texts are for people."`
	RequestID    string       `json:"request_id"`
	Retryable    bool         `json:"retryable" doc:"Whether the same request may succeed later."`
	RetryAfterMS *int64       `json:"retry_after_ms" nullable:"true"`
	Errors       []fault.Item `json:"errors" doc:"Every fault of the request."`

	JobID         string `json:"job_id,omitempty" doc:"The job that a conflict speaks of."`
	RunID         string `json:"run_id,omitempty" doc:"The run that a conflict speaks of."`
	ProposalID    string `json:"proposal_id,omitempty" doc:"The proposal that a conflict speaks of."`
	ConnectionID  string `json:"connection_id,omitempty" doc:"The connection that a conflict speaks of."`
	State         string `json:"state,omitempty" doc:"The state of that job, run, proposal or connection now."`
	RequiredScope string `json:"required_scope,omitempty" doc:"The scope that the token lacks."`
	LimitBytes    int64  `json:"limit_bytes,omitempty" doc:"The bound that the body exceeds."`

	bytes []byte
}

// Error and GetStatus let huma carry a Problem.
func (p *Problem) Error() string  { return p.Code }
func (p *Problem) GetStatus() int { return p.Status }

// ContentType is the media type of a problem.
func (p *Problem) ContentType(string) string { return problemType }

// ProblemOf is the problem of one item within an answer.
func ProblemOf(ctx context.Context, f *fault.Fault) *Problem { return problemOf(f, RequestID(ctx)) }

// MarshalJSON writes the problem with the members of its code.
func (p *Problem) MarshalJSON() ([]byte, error) { return bytes.TrimSpace(p.bytes), nil }

// problemOf is the wire form of a fault.
func problemOf(f *fault.Fault, requestID string) *Problem {
	p := &Problem{
		Type:          "/problems/" + f.Code,
		Title:         f.Title(),
		Status:        f.Status,
		Detail:        f.Detail,
		Code:          f.Code,
		RequestID:     requestID,
		Retryable:     f.Retryable,
		Errors:        f.Errors,
		RequiredScope: f.Scope,
	}
	if p.Errors == nil {
		p.Errors = []fault.Item{}
	}
	if f.RetryAfter > 0 {
		ms := f.RetryAfter.Milliseconds()
		p.RetryAfterMS = &ms
	}
	p.bytes = p.encode(f.Members)
	return p
}

// encode is the problem with the members of its code behind it.
func (p *Problem) encode(members map[string]any) []byte {
	type plain Problem // without MarshalJSON
	b, err := Encode((*plain)(p))
	if err != nil {
		panic(err)
	}
	if len(members) == 0 {
		return b
	}
	b = bytes.TrimSuffix(b, []byte("}\n"))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value, err := json.Marshal(members[name])
		if err != nil {
			panic(err)
		}
		b = append(append(append(append(b, `,"`...), name...), `":`...), value...)
	}
	return append(b, "}\n"...)
}

// problemReply is the answer to a fault.
func problemReply(f *fault.Fault, requestID string) *reply {
	h := http.Header{"Content-Type": {problemType}}
	if f.RetryAfter > 0 {
		seconds := (f.RetryAfter + time.Second - 1) / time.Second
		h.Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
	switch f.Status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer realm="stint"`)
	case http.StatusRequestTimeout, http.StatusRequestEntityTooLarge:
		h.Set("Connection", "close")
	}
	return &reply{status: f.Status, header: h, body: problemOf(f, requestID).bytes, fault: f}
}

// fail answers err outside of a handler.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	s := stateOf(r.Context())
	problemReply(explain(r.Context(), err), s.id).send(s, w)
}

// explain turns any error into what a client may see. A text that no fault
// carries stays in the log.
func explain(ctx context.Context, err error) *fault.Fault {
	var f *fault.Fault
	if errors.As(err, &f) {
		return f
	}
	if errors.As(store.Explain(err), &f) {
		return f
	}
	if ctx.Err() != nil {
		return fault.Unavailable("The request was given up.").Because(err)
	}
	return fault.Internal(err)
}

// marshalProblem writes the one kind of value that huma itself encodes.
func marshalProblem(w io.Writer, v any) error {
	p, ok := v.(*Problem)
	if !ok {
		return fmt.Errorf("encode %T: not a problem", v)
	}
	_, err := w.Write(p.bytes)
	return err
}

// humaError is what huma answers when it finds fault with a request itself: the
// parameters' faults join those that were collected before.
func humaError(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
	if ctx == nil {
		return &Problem{}
	}
	s := stateOf(ctx.Context())
	f := s.refused(errs)
	s.fault = f
	rep := problemReply(f, s.id)
	for name, values := range rep.header {
		ctx.SetHeader(name, values[0])
	}
	return problemOf(f, s.id)
}

// refused is the fault that huma's errors and the collected ones make. A path
// that breaks a rule names nothing, so it is a 404.
func (s *request) refused(errs []error) *fault.Fault {
	for _, err := range errs {
		item := itemOf(err)
		if item.In == fault.InPath {
			return fault.NotFound()
		}
		if item.In == fault.InBody && item.Pointer == "" {
			if len(s.faults) > 0 {
				continue // why it could not be decoded is known already
			}
			item.Detail = "the body cannot be read"
		}
		s.add(item)
	}
	if f := s.collected(); f != nil {
		return f
	}
	return fault.Internal(errors.Join(errs...))
}
