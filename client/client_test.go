package client_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stint-run/stint/client"
	api "github.com/stint-run/stint/gen/client"
)

// sent is what a server gets of a call.
func sent(t *testing.T, call func(ctx context.Context, c *api.Client) (*http.Response, error)) http.Header {
	t.Helper()
	var got http.Header
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header }))
	defer s.Close()
	c, err := client.New(s.URL+"/", "stint_token")
	if err != nil {
		t.Fatal(err)
	}
	resp, err := call(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return got
}

func TestEnqueuesCarryAnIdempotencyKey(t *testing.T) {
	t.Parallel()
	own, empty := "own", ""
	tests := map[string]struct {
		call func(ctx context.Context, c *api.Client) (*http.Response, error)
		want string // "random", or the key
	}{
		"enqueue": {func(ctx context.Context, c *api.Client) (*http.Response, error) {
			return c.EnqueueJob(ctx, nil, api.EnqueueBody{Kind: "review"})
		}, "random"},
		"batch": {func(ctx context.Context, c *api.Client) (*http.Response, error) {
			return c.EnqueueJobs(ctx, nil, api.EnqueueJobsRequest{})
		}, "random"},
		"the caller's own": {func(ctx context.Context, c *api.Client) (*http.Response, error) {
			return c.EnqueueJob(ctx, &api.EnqueueJobParams{IdempotencyKey: &own}, api.EnqueueBody{Kind: "review"})
		}, own},
		"an empty one, for the server to refuse": {func(ctx context.Context, c *api.Client) (*http.Response, error) {
			return c.EnqueueJob(ctx, &api.EnqueueJobParams{IdempotencyKey: &empty}, api.EnqueueBody{Kind: "review"})
		}, ""},
		"told not to": {func(ctx context.Context, c *api.Client) (*http.Response, error) {
			return c.EnqueueJob(ctx, nil, api.EnqueueBody{Kind: "review"}, client.WithoutIdempotencyKey)
		}, ""},
		"a list": {func(ctx context.Context, c *api.Client) (*http.Response, error) { return c.ListJobs(ctx, nil) }, ""},
		"a claim": {func(ctx context.Context, c *api.Client) (*http.Response, error) {
			return c.ClaimJobs(ctx, nil, api.ClaimJobsRequest{Kinds: []string{"review"}, Worker: "w"})
		}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := sent(t, tt.call), sent(t, tt.call)
			key, other := first.Get("Idempotency-Key"), second.Get("Idempotency-Key")
			if tt.want == "random" && (key == "" || key == other) || tt.want != "random" && (key != tt.want || other != tt.want) {
				t.Errorf("the keys were %q and %q, want %q", key, other, tt.want)
			}
			if got := first.Get("Authorization"); got != "Bearer stint_token" {
				t.Errorf("the token was sent as %q", got)
			}
		})
	}
}

func TestAServerIsNamedByItsURL(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "localhost:8480", "ftp://h", "http://", ":"} {
		if _, err := client.New(base, ""); err == nil {
			t.Errorf("%q is taken", base)
		}
	}
}

func ExampleNew() {
	c, err := client.New("http://127.0.0.1:8480", "stint_…")
	if err != nil {
		panic(err)
	}
	answers := api.ClientWithResponses{ClientInterface: c}
	done, err := answers.EnqueueJobWithResponse(context.Background(), nil, api.EnqueueBody{Kind: "review"})
	switch {
	case err != nil:
		panic(err)
	case done.JSON201 != nil:
		fmt.Println("enqueued", done.JSON201.Job.ID)
	case done.JSON200 != nil:
		fmt.Println("was there already:", done.JSON200.Job.ID)
	}
}
