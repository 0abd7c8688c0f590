package web

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stint-run/stint/server/fault"
)

// AnyToken is the scope of a route that every valid token may use.
const AnyToken = "any"

// Op describes a route.
type Op struct {
	Method, Path, ID, Summary, Description string

	Scope  string // required: one of Scopes, or AnyToken
	Tag    string // groups the route in the document; empty: the path's first noun
	Status int    // of success; 0 is 200
	Also   []int  // further statuses of success, such as 200 beside 201
	Faults []string

	MaxBody       int64         // bytes after decompression; 0 is 1 MiB
	BodyTime      time.Duration // for the body to arrive; 0 is the API's
	AnswerTime    time.Duration // for the answer to be made; 0 is 70 s
	NoIdempotency bool          // a key is refused: the answer holds a secret, or belongs to a stream

	line reflect.Type // of a body that is a stream; see Upload
}

// Body bounds, in bytes after decompression.
const (
	BodyLimit  = 1 << 20
	BatchLimit = 16 << 20
)

func (op Op) maxBody() int64 {
	if op.MaxBody == 0 {
		return BodyLimit
	}
	return op.MaxBody
}

func (op Op) status() int {
	if op.Status == 0 {
		return http.StatusOK
	}
	return op.Status
}

// Checked is an input with rules that its schema cannot say. Faults are those of
// the values alone, whatever the database holds; they join the request's other
// faults before the handler runs. A pointer leads into the body unless In says
// otherwise. Values that break the schema come here too.
type Checked interface{ Faults() []fault.Item }

// errUnguarded stops a request that reached a handler past the middleware.
var errUnguarded = errors.New("the route's middleware did not run")

// register adds a route whose answer is documented as O and sent as run made it.
func register[I, O any](a *API, op Op, mutates bool, run func(ctx context.Context, in *I) *reply) {
	if op.Scope != AnyToken && !slices.Contains(Scopes, op.Scope) {
		panic("web: " + op.Method + " " + op.Path + " has no scope")
	}
	doc := a.describe(op, reflect.TypeFor[I](), reflect.TypeFor[O](), mutates)
	huma.Register(a.huma, doc, func(ctx context.Context, in *I) (*stream, error) {
		s := stateOf(ctx)
		if s.route == nil || s.principal.TokenID == "" {
			return problemReply(fault.Internal(errUnguarded), s.id).stream(s), nil
		}
		if c, ok := any(in).(Checked); ok && !s.unparsable {
			s.add(c.Faults()...)
		}
		if f := s.collected(); f != nil {
			return problemReply(f, s.id).stream(s), nil
		}
		return run(ctx, in).stream(s), nil
	})
	registered := operation(a.huma.OpenAPI().Paths[op.Path], op.Method)
	if op.line != nil {
		registered.RequestBody = a.lineBody(op) // huma would read the body if it knew of one
	}
	key := op.Method + " " + routerPath(op.Path)
	a.routes[key], a.served[key] = newRoute(op, registered), true
}

// describe is the route as the document shows it.
func (a *API) describe(op Op, in, out reflect.Type, mutates bool) huma.Operation {
	doc := huma.Operation{
		Method:           op.Method,
		Path:             op.Path,
		OperationID:      op.ID,
		Summary:          op.Summary,
		Description:      op.Description,
		Tags:             []string{op.tag()},
		DefaultStatus:    op.status(),
		MaxBodyBytes:     -1, // readBody bounds it
		BodyReadTimeout:  -1,
		SkipValidateBody: true, // readBody validates it, with pointers
		Responses:        map[string]*huma.Response{},
		Security:         []map[string][]string{{"bearer": op.scopes()}},
	}
	if body := bodyType(in); body != nil {
		doc.RequestBody = &huma.RequestBody{Required: body.Kind() != reflect.Pointer, Content: map[string]*huma.MediaType{
			jsonType: {Schema: a.bodySchema(body, op.ID+"-request")},
		}}
	}
	if mutates && !op.NoIdempotency {
		doc.Parameters = append(doc.Parameters, keyParam)
	}
	success := &huma.MediaType{Schema: a.answerSchema(out, op.ID+"-answer")}
	for _, status := range append([]int{op.status()}, op.Also...) {
		doc.Responses[strconv.Itoa(status)] = &huma.Response{
			Description: http.StatusText(status),
			Content:     map[string]*huma.MediaType{jsonType: success},
		}
	}
	problem := &huma.MediaType{Schema: a.schema(reflect.TypeFor[Problem](), "")}
	for status, codes := range op.faults(mutates, doc.RequestBody != nil || op.line != nil) {
		doc.Responses[strconv.Itoa(status)] = &huma.Response{
			Description: http.StatusText(status) + ": " + strings.Join(codes, ", "),
			Content:     map[string]*huma.MediaType{problemType: problem},
		}
	}
	return doc
}

func (op Op) scopes() []string {
	if op.Scope == AnyToken {
		return []string{}
	}
	return []string{op.Scope}
}

func (op Op) tag() string {
	if op.Tag != "" {
		return op.Tag
	}
	noun, _, _ := strings.Cut(strings.TrimPrefix(op.Path, "/v1/"), "/")
	return noun
}

// faults groups the codes that a route can answer by status.
func (op Op) faults(mutates, hasBody bool) map[int][]string {
	codes := []string{"invalid_request", "unauthorized", "forbidden", "not_found", "internal", "unavailable"}
	if hasBody {
		codes = append(codes, "invalid_json", "request_timeout", "body_too_large", "unsupported_media_type", "validation_failed")
	}
	if mutates {
		codes = append(codes, "commit_unknown")
		if op.NoIdempotency {
			codes = append(codes, "idempotency_unsupported")
		} else {
			codes = append(codes, "idempotency_in_flight", "idempotency_key_reused")
		}
	}
	codes = append(codes, op.Faults...)
	slices.Sort(codes)
	byStatus := map[int][]string{}
	for _, code := range slices.Compact(codes) {
		c, ok := fault.Lookup(code)
		if !ok {
			panic("web: " + op.Path + " names the unlisted code " + code)
		}
		byStatus[c.Status] = append(byStatus[c.Status], code)
	}
	return byStatus
}

// keyParam documents the Idempotency-Key header.
var keyParam = &huma.Param{
	Name: keyHeader,
	In:   "header",
	Description: "1 to 255 visible ASCII characters. A repeated request with the same key has one effect, " +
		"and gets the first one's answer with Idempotent-Replayed: true.",
	Schema: &huma.Schema{Type: huma.TypeString, MinLength: ptr(1), MaxLength: ptr(255)},
}

func ptr[T any](v T) *T { return &v }
