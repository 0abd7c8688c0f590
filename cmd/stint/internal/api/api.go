// Package api is the command line's side of the HTTP API: answers as values or
// errors.
package api

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	stint "github.com/stint-run/stint/client"
	"github.com/stint-run/stint/gen/client"
	"github.com/stint-run/stint/server/bounded"
)

const (
	maxAnswer = 64 << 20 // bytes; the largest page is far below
	// A claim waits up to 30 s for work, so an answer may take that long to begin.
	answerTime = 75 * time.Second
)

// Transport trusts servers whose certificate comes from roots; nil: the system's.
func Transport(roots *x509.CertPool) *http.Transport {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if roots != nil {
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
	}
	return transport
}

// maxRoots bounds a file of authorities, in bytes; a system's has some 200 KiB.
const maxRoots = 16 << 20

// Roots are the authorities of a PEM file; nil, without a file, stands for the
// system's.
func Roots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := bounded.File(file, maxRoots)
	if err != nil {
		return nil, fmt.Errorf("read the authorities: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("there is no PEM certificate in %s", file)
	}
	return roots, nil
}

// NameAuthority is the way out of an UnknownAuthority.
const NameAuthority = "name the authority of the server's certificate with --ca-file (STINT_CA_FILE)"

// UnknownAuthority tells whether nobody vouches for the server's certificate.
func UnknownAuthority(err error) bool {
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	return unknown
}

// Untrusted tells whether the server's certificate was refused, which no waiting
// mends: its authority is unknown, it is of another name, or it has expired.
func Untrusted(err error) bool {
	_, refused := errors.AsType[*tls.CertificateVerificationError](err)
	return refused
}

// New is a client of the server at base that shows the token, if there is one. It
// follows no redirection: that would turn a request into one for another page, whose
// answer is not the API's.
func New(base, token, version string, roots *x509.CertPool) (*client.Client, error) {
	transport := Transport(roots)
	transport.MaxIdleConnsPerHost = 256
	transport.ResponseHeaderTimeout = answerTime
	return stint.New(base, token,
		client.WithHTTPClient(&http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}),
		client.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
			r.Header.Set("User-Agent", "stint/"+version)
			return nil
		}))
}

// Reply is an answer of the server, and its bytes.
type Reply[T any] struct {
	Value  T
	Raw    json.RawMessage
	Status int
	Header http.Header
}

// Answer reads what a call of the client returned. Its error is a *Problem if
// the server refused, and an *Away if there was no answer.
func Answer[T any](resp *http.Response, err error) (Reply[T], error) {
	if err != nil {
		return Reply[T]{}, &Away{err}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return Reply[T]{}, &Away{fmt.Errorf("read the answer: %w", err)}
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return Reply[T]{}, problemOf(resp, body)
	}
	r := Reply[T]{Raw: body, Status: resp.StatusCode, Header: resp.Header}
	if err := json.Unmarshal(body, &r.Value); err != nil {
		return r, fmt.Errorf("the answer is not the API's (is this a Stint server?): %w", err)
	}
	return r, nil
}

// Away means that no answer came: the server is down, or the connection broke,
// and a request may or may not have had its effect.
type Away struct{ err error }

func (e *Away) Error() string {
	hint := ""
	if UnknownAuthority(e.err) {
		hint = "; " + NameAuthority
	}
	var where *url.Error
	if errors.As(e.err, &where) {
		if u, err := url.Parse(where.URL); err == nil {
			return fmt.Sprintf("no answer from %s://%s: %v%s", u.Scheme, u.Host, where.Err, hint)
		}
	}
	return "no answer: " + e.err.Error() + hint
}

func (e *Away) Unwrap() error { return e.err }

// Problem is a refusal of the server.
type Problem struct {
	client.Problem
	RetryAfter time.Duration // 0: the server names none
}

func (p *Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.Code + ": ")
	if len(p.Errors) == 0 {
		b.WriteString(p.Detail)
	}
	for i, item := range p.Errors {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(item.Pointer + ": " + item.Detail)
	}
	if p.JobID != nil && p.State != nil {
		fmt.Fprintf(&b, " (%s is %s)", *p.JobID, *p.State)
	}
	if p.ProposalID != nil && p.State != nil {
		fmt.Fprintf(&b, " (%s is %s)", *p.ProposalID, *p.State)
	}
	if p.RequiredScope != nil {
		fmt.Fprintf(&b, " (needs the scope %s)", *p.RequiredScope)
	}
	return b.String()
}

// foreign begins the code of a refusal that is not a Stint server's.
const foreign = "http_"

// problemOf reads a refusal. What stands between may answer without a problem.
func problemOf(resp *http.Response, body []byte) *Problem {
	p := &Problem{}
	if err := json.Unmarshal(body, &p.Problem); err != nil || p.Code == "" {
		detail := "The answer was " + resp.Status
		if place := resp.Header.Get("Location"); place != "" {
			detail += ", to " + place
		}
		p.Problem = client.Problem{
			Code: foreign + strconv.Itoa(resp.StatusCode), Detail: detail + ".",
			Retryable: resp.StatusCode >= http.StatusInternalServerError,
		}
	}
	p.Status = int64(resp.StatusCode)
	if seconds, err := strconv.ParseInt(resp.Header.Get("Retry-After"), 10, 32); err == nil {
		p.RetryAfter = time.Duration(seconds) * time.Second
	}
	return p
}

// Foreign tells whether the refusal came from something on the way to the server.
func Foreign(err error) bool { return strings.HasPrefix(Code(err), foreign) }

// Code is the problem's code, or "".
func Code(err error) string {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p.Code
	}
	return ""
}

// Status is the problem's HTTP status, or 0.
func Status(err error) int {
	if p, ok := errors.AsType[*Problem](err); ok {
		return int(p.Status)
	}
	return 0
}

// Names tells whether the problem is about that member of the request, or a part of
// it; member is a pointer such as /result.
func Names(err error, member string) bool {
	p, ok := errors.AsType[*Problem](err)
	return ok && slices.ContainsFunc(p.Errors, func(item client.Item) bool {
		return item.Pointer == member || strings.HasPrefix(item.Pointer, member+"/")
	})
}

// BadRequest tells whether a request is refused for what it says.
func BadRequest(err error) bool {
	switch Status(err) {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// LeaseGone tells whether the server says that the lease is not held: it is lost, it
// was ended by another action, or there is no such job.
func LeaseGone(err error) bool {
	switch Code(err) {
	case "lease_lost", "state_conflict", "not_found":
		return true
	}
	return false
}

// Retry tells whether the same request may succeed later.
func Retry(err error) bool {
	if p, ok := errors.AsType[*Problem](err); ok {
		switch p.Status {
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		}
		return p.Retryable
	}
	_, away := errors.AsType[*Away](err)
	return away
}

// Body is v as a request body. JSON values within v keep their spelling:
// json.Marshal would write < as \u003c.
func Body(v any) (contentType string, body *bytes.Reader) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // only for values that no command makes
	}
	return "application/json", bytes.NewReader(b.Bytes())
}
