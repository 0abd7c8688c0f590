// Package metrics counts what a replica does and serves it in the format of
// Prometheus. Every label has a bounded number of values, whatever clients send:
// none names an owner, a worker or an id.
package metrics

import (
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/notify"
	"github.com/stint-run/stint/server/store"
)

// scrapes is how many scrapes are answered at once; others get a 503.
const scrapes = 4

// buckets are upper bounds in seconds, from a single statement to the longest
// wait of a claim.
var buckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// Metrics are the figures of one replica, in a registry of their own.
type Metrics struct {
	http.Handler // answers a scrape

	registry *prometheus.Registry
	took     *prometheus.HistogramVec
	inFlight prometheus.Gauge
	queue    *queue
}

// New counts the requests of a replica. version is the build's.
func New(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "stint_http_request_duration_seconds",
			Help:    "Time from a request's headers to the end of its answer, the wait of a claim included. status is its class.",
			Buckets: buckets,
		}, []string{"route", "method", "status"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "stint_http_requests_in_flight",
			Help: "Requests that are being answered, waiting claims and this scrape included.",
		}),
		queue: &queue{now: time.Now, held: func() bool { return true }},
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "stint_build_info", Help: "1; the labels tell the build.",
		ConstLabels: prometheus.Labels{"version": version, "go_version": runtime.Version()},
	})
	build.Set(1)
	m.registry.MustRegister(m.took, m.inFlight, build, m.queue,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.Handler = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: scrapes})
	return m
}

// Watch adds the figures of a store, of the loops on it and of its bus, which
// may be nil. Those of the queue are then exported while this replica holds
// QueueLease.
func (m *Metrics) Watch(s *store.Store, r *control.Runner, b *notify.Bus) {
	m.queue.held = func() bool { return holds(r, QueueLease) }
	m.registry.MustRegister(pools{s}, loops{r})
	if b != nil {
		m.registry.MustRegister(hints{b})
	}
}

// Begin counts a request that has come in.
func (m *Metrics) Begin() { m.inFlight.Inc() }

// End counts its answer. route and method are of a bounded set.
func (m *Metrics) End(route, method string, status int, took time.Duration) {
	m.inFlight.Dec()
	m.took.WithLabelValues(route, method, class(status)).Observe(took.Seconds())
}

// class is 2xx of 204.
func class(status int) string { return strconv.Itoa(status/100) + "xx" }
