package server_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// TestEachListTakesTheCursorsOfOlderBuilds: a walk that began at the build before
// goes on at this one. The cursors were made by the build before lists were
// declared; web/cursor_test.go says that they are still written so.
func TestEachListTakesTheCursorsOfOlderBuilds(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("web/testdata/cursors.txt")
	if err != nil {
		t.Fatal(err)
	}
	s := dbtest.Open(t, store.Config{URL: dbtest.Shared(t, store.SQLite)})
	handler := server.New(server.Config{Version: "test", Log: slog.New(slog.DiscardHandler)}, s, []byte("0123456789abcdef0123456789abcdef")).Handler()
	token := tokenOf(t, s, "own_0193812f-0000")
	lists := 0
	for line := range strings.Lines(string(text)) {
		lists++
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		target, err := url.Parse(f[2])
		if err != nil {
			t.Fatal(err)
		}
		query := target.Query()
		query.Set("cursor", f[5])
		target.RawQuery = query.Encode()
		r := httptest.NewRequest(http.MethodGet, target.String(), nil)
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != http.StatusOK && (f[0] != "proposals" || w.Code != http.StatusNotFound) { // no such repository, behind the cursor
			t.Errorf("%s: %d %s", f[0], w.Code, w.Body)
		}
	}
	if lists != 8 {
		t.Errorf("%d lists, 8 were served before there was a second version", lists)
	}
}

// tokenOf makes the owner of that id, and a token of it.
func tokenOf(t *testing.T, s *store.Store, ownerID string) (text string) {
	t.Helper()
	err := s.Tx(t.Context(), func(q model.Querier) error {
		_, err := q.OwnerInsert(t.Context(), model.OwnerInsertParams{ID: ownerID, Name: "cursors", CreatedAt: dbtest.T0})
		if err == nil {
			text, _, err = control.Issue(t.Context(), q, s.Now(), control.TokenIn{OwnerID: ownerID, Name: "test", Scopes: []string{"admin"}})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}
