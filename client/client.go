// Package client is the Go client of a Stint server: the generated one of
// gen/client, with a token, and with an Idempotency-Key on every enqueue.
//
// With the key an enqueue whose answer was lost can be repeated without a second
// effect, and net/http repeats it by itself when a kept connection turns out to
// be dead. It costs the server one more row for each request.
package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"

	api "github.com/stint-run/stint/gen/client"
)

const header = "Idempotency-Key"

// New is a client of the server at base, http://HOST:PORT or https://…, that
// shows the token. Its calls return HTTP responses; for decoded answers put it
// into an api.ClientWithResponses.
//
// An enqueue without an IdempotencyKey among its parameters gets a random one.
// A program that repeats a call itself passes its own key, the same each time.
func New(base, token string, opts ...api.ClientOption) (*api.Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("the server is named by http://HOST:PORT or https://…, not by %q", base)
	}
	edit := func(_ context.Context, r *http.Request) error {
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		if enqueues(r) && len(r.Header.Values(header)) == 0 {
			r.Header.Set(header, uuid.NewString())
		}
		return nil
	}
	return api.NewClient(strings.TrimRight(base, "/"), append([]api.ClientOption{api.WithRequestEditorFn(edit)}, opts...)...)
}

// WithoutIdempotencyKey is passed to a call that is to carry no key.
func WithoutIdempotencyKey(_ context.Context, r *http.Request) error {
	r.Header.Del(header)
	return nil
}

func enqueues(r *http.Request) bool {
	return r.Method == http.MethodPost &&
		(strings.HasSuffix(r.URL.Path, "/v1/jobs") || strings.HasSuffix(r.URL.Path, "/v1/jobs/batch"))
}
