package records_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/records"
	"github.com/stint-run/stint/server/web"
)

// holder knows one token, the fixture's owner's.
type holder struct{ ownerID string }

func (h holder) Verify(_ context.Context, token string) (web.Principal, error) {
	if token != "stint_ada" {
		return web.Principal{}, fault.Unauthorized()
	}
	return web.Principal{OwnerID: h.ownerID, TokenID: "tok_ada", Scopes: []string{web.ScopeRecordsWrite}}, nil
}

func (h holder) VerifySession(context.Context, string) (web.Principal, error) {
	return web.Principal{}, fault.Unauthorized()
}

func (h holder) End(string, coltype.Time) {}

// api serves the route of ingest, with chunks of so many lines, to the owner of the
// fixture.
func (f *fixture) api(lines int, cut func(records.Tally)) *apitest.Client {
	f.Helper()
	dies := cut != nil
	if !dies {
		cut = func(records.Tally) {}
	}
	f.Store.SetClock(func() coltype.Time { return f.Now })
	a := web.New(web.Config{Store: f.Store, Verifier: holder{f.Owner}, CursorKey: make([]byte, 16), Log: slog.New(slog.DiscardHandler)})
	f.server = a
	records.IngestRoute(a, f.Store, lines, cut)
	c := apitest.HandlerClient(f.T, a.Handler(), "stint_ada")
	c.Lenient = dies // with a 500
	return c
}

// send sends lines to the connection of the fixture.
func (f *fixture) send(c *apitest.Client, query, body string, headers ...string) apitest.Answer {
	f.Helper()
	headers = append([]string{"Content-Type", "application/x-ndjson"}, headers...)
	return c.In(f.T).Call("POST", "/v1/connections/"+f.connection+"/records"+query, body, headers...)
}

// sendBatch sends a batch, with the right hash.
func (f *fixture) sendBatch(c *apitest.Client, query, body string, headers ...string) apitest.Answer {
	f.Helper()
	return f.send(c, query, body, append([]string{"Content-SHA256", hashOf(body)}, headers...)...)
}

func hashOf(body string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(body))) }

// answered checks the status of an answer, and members of it that are texts or numbers.
func (f *fixture) answered(a apitest.Answer, status int, members map[string]string) {
	f.Helper()
	if a.Status != status {
		f.Errorf("want %d, got %s", status, a)
		return
	}
	for path, want := range members {
		if got := fmt.Sprint(a.At(path)); got != want {
			f.Errorf("%s is %s, want %s: %s", path, got, want, a)
		}
	}
}

// notes are n lines of the stream notes, with the keys from first on.
func notes(first, n int) (text string) {
	for i := range n {
		text += fmt.Sprintf(`{"stream":"notes","data":{"id":"n%d","text":"t"}}`+"\n", first+i)
	}
	return text
}
