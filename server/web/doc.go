// Package web is the HTTP edge: it turns bytes into the arguments of an
// operation, and its outcome into bytes, once.
//
// A request passes, in this order: request id, access log, panics, security
// headers, the form of the path, the router; then, for a route of the API,
// the deadline of its body, the token and its scope, the parameters, and the
// body with its text gate. What is wrong with parameters and body is collected
// and answered as one problem. Only then does a handler run: through Read, which
// has no way to write (List is Read for a declared list), or through Write, which
// is one transaction with the Idempotency-Key inside it. A route of Upload reads
// its body itself, as it arrives.
//
// Middleware is written as func(http.Handler) http.Handler, so that only api.go,
// route.go and browser.go know the router.
package web
