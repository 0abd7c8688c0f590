package web

import (
	"net/http"

	"github.com/google/uuid"

	"github.com/stint-run/stint/server/store"
)

const requestIDHeader = "X-Request-Id"

// withRequest gives the request its state, its id and its statement count. A
// client's id is taken if it is clean, since it ends up in headers and logs.
func (a *API) withRequest(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := &request{
			id:     requestID(r.Header.Values(requestIDHeader)),
			url:    r.URL.EscapedPath() + "?" + r.URL.RawQuery,
			query:  r.URL.RawQuery,
			path:   r.URL.Path,
			header: r.Header,
			client: a.clientIP(r),
			scheme: a.scheme(r),
		}
		ctx, stats := store.WithStats(r.Context())
		s.stats = stats
		w.Header().Set(requestIDHeader, s.id)
		next.ServeHTTP(w, r.WithContext(withState(ctx, s)))
	})
}

func requestID(sent []string) string {
	if len(sent) == 1 && cleanID(sent[0]) {
		return sent[0]
	}
	return "req_" + uuid.NewString()
}

func cleanID(id string) bool {
	if id == "" || len(id) > 64 {
		return false
	}
	for _, c := range []byte(id) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}
