package web

import "net/http"

// apiCSP forbids everything: answers of the API are data, not pages.
const apiCSP = "default-src 'none'; frame-ancestors 'none'"

// secureHeaders sets what every answer carries; pages replace the policy.
func secureHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", apiCSP)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}
