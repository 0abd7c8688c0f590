package web_test

import (
	"crypto/tls"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/web"
)

// TestOriginIsTheServersOwn: as the client sees it, by scheme, name and port.
func TestOriginIsTheServersOwn(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	for origin, status := range map[string]int{
		"https://stint.example": 201, "https://STINT.example": 201, "http://stint.example": 403, "https://stint.example:8443": 403,
		"https://stint.example.evil.example": 403, "https://evil.example/https://stint.example": 403, "stint.example": 403, "": 403,
	} {
		r := httptest.NewRequest("POST", "https://stint.example/v1/things", strings.NewReader(`{"kind":"a"}`))
		r.TLS = &tls.ConnectionState{}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Cookie", "__Host-stint="+sessionSecret)
		r.Header.Set("Origin", origin)
		w := httptest.NewRecorder()
		if e.Handler().ServeHTTP(w, r); w.Code != status {
			t.Errorf("%q: %d %s", origin, w.Code, w.Body)
		}
	}
}
