package web

import (
	"net/http"
	"time"
)

// Metrics hears of every request, and answers /metrics on the admin listener.
type Metrics interface {
	http.Handler
	// Begin is called when a request has come in, End when it was answered. route
	// is the router's pattern, or "other" for what no route serves; HEAD is GET.
	Begin()
	End(route, method string, status int, took time.Duration)
}

const metricsPath = "/metrics"

// otherRoute stands for all paths and methods that no route serves.
const otherRoute = "other"

func (a *API) measure(r *http.Request, method string, rec *recorder, took time.Duration) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	route := stateOf(r.Context()).pattern
	if !a.served[method+" "+route] {
		route, method = otherRoute, knownMethod(method)
	}
	a.metrics.End(route, method, rec.Status(), took)
}

// unmeasured stands in where nobody counts; it answers no scrape.
type unmeasured struct{ http.Handler }

func (unmeasured) Begin() {}

func (unmeasured) End(string, string, int, time.Duration) {}
