// Package apitest calls the API as its clients do, for the tests of every
// layer: a client that looks at each answer, an owner with a token, and a whole
// server of the test's own process.
//
//	func TestSomething(t *testing.T) {
//		t.Parallel()
//		apitest.Each(t, func(t *testing.T, s *apitest.Server) {
//			id := s.Must(201, "/v1/jobs", `{"kind":"review"}`).Str("job.id")
//			…
//		})
//	}
package apitest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Client calls a server as the holder of one token. Every answer is checked for
// what an attacker would look for; see Answer.Faults.
type Client struct {
	T     testing.TB
	Token string
	// Lenient turns those checks off, for tests whose own routes break the rules.
	Lenient bool

	base func() string
	http *http.Client
}

// NewClient is a client of the server at base, which may move.
func NewClient(t testing.TB, base func() string, token string) *Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 128, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &Client{T: t, Token: token, base: base, http: &http.Client{
		Transport: transport, Timeout: time.Minute, CheckRedirect: stay,
	}}
}

// stay follows no redirect: it is the answer.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// HandlerClient is a client of a handler, without a connection between them.
func HandlerClient(t testing.TB, h http.Handler, token string) *Client {
	return &Client{T: t, Token: token, base: func() string { return "http://stint.example" }, http: &http.Client{Transport: direct{h}, CheckRedirect: stay}}
}

// direct hands requests to a handler.
type direct struct{ handler http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	served := httptest.NewRequestWithContext(r.Context(), r.Method, r.URL.RequestURI(), r.Body)
	served.Header, served.Host, served.ContentLength = r.Header, r.URL.Host, r.ContentLength
	d.handler.ServeHTTP(w, served)
	return w.Result(), nil
}

// As is the same client with another token; "" sends none.
func (c *Client) As(token string) *Client {
	other := *c
	other.Token = token
	return &other
}

// In is the same client, reporting to another test.
func (c *Client) In(t testing.TB) *Client {
	other := *c
	other.T = t
	return &other
}

// Base is where the server is now: scheme, host and port.
func (c *Client) Base() string { return c.base() }

// CloseIdle ends the connections that carry no request.
func (c *Client) CloseIdle() { c.http.CloseIdleConnections() }

// Try sends a request; headers alternate names and values, and an empty value
// removes the header. Its error is that of the connection.
func (c *Client) Try(ctx context.Context, method, path, body string, headers ...string) (Answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base()+path, strings.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if req.Header.Set(headers[i], headers[i+1]); headers[i+1] == "" {
			req.Header.Del(headers[i])
		}
	}
	return c.Do(req)
}

// Do sends a request as it is.
func (c *Client) Do(req *http.Request) (Answer, error) {
	resp, err := c.http.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	a := Answer{Status: resp.StatusCode, Header: resp.Header, Body: text}
	if err == nil && !c.Lenient {
		for _, wrong := range a.Faults() {
			c.T.Errorf("%s %s: %s\n%s", req.Method, req.URL.RequestURI(), wrong, a)
		}
	}
	return a, err
}

// Call is Try where a broken connection is a defect; the status is then 0.
func (c *Client) Call(method, path, body string, headers ...string) Answer {
	c.T.Helper()
	a, err := c.Try(context.Background(), method, path, body, headers...)
	if err != nil {
		c.T.Errorf("%s %s: %v", method, path, err)
		return Answer{}
	}
	return a
}

// Get calls a route that reads.
func (c *Client) Get(path string, headers ...string) Answer {
	c.T.Helper()
	return c.Call(http.MethodGet, path, "", headers...)
}

// Post calls a route that writes.
func (c *Client) Post(path, body string, headers ...string) Answer {
	c.T.Helper()
	return c.Call(http.MethodPost, path, body, headers...)
}

// Must posts and wants one status; the test ends with any other.
func (c *Client) Must(status int, path, body string, headers ...string) Answer {
	c.T.Helper()
	a := c.Post(path, body, headers...)
	if a.Status != status {
		c.T.Fatalf("POST %s %s: want %d, got %s", path, body, status, a)
	}
	return a
}

// Ready reports whether the server says that it is.
func (c *Client) Ready() bool {
	a, err := c.Try(context.Background(), http.MethodGet, "/readyz", "")
	return err == nil && a.Status == http.StatusOK
}
