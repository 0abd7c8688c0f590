package e2e

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/stint-run/stint/server"
	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// families are what one scrape of the admin listener shows, by name.
type families map[string]*dto.MetricFamily

func (s *inProcess) scrape() families {
	s.T.Helper()
	a := s.Admin.Get("/metrics")
	parser := expfmt.NewTextParser(model.LegacyValidation)
	all, err := parser.TextToMetricFamilies(bytes.NewReader(a.Body))
	if a.Status != http.StatusOK || err != nil {
		s.T.Fatalf("GET /metrics: %d, %v", a.Status, err)
	}
	return all
}

// labels of a metric, in the order of their names: "method=GET route=/v1/jobs".
func labels(m *dto.Metric) string {
	var out []string
	for _, l := range m.GetLabel() {
		out = append(out, l.GetName()+"="+l.GetValue())
	}
	return strings.Join(out, " ")
}

// value is the metric of a family with these labels: a count for a histogram.
func (f families) value(name, with string) (value float64, found bool) {
	for _, m := range f[name].GetMetric() {
		if labels(m) != with {
			continue
		}
		return m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount()), true
	}
	return 0, false
}

// series is how many time series a scrape holds.
func (f families) series() (n int) {
	for _, family := range f {
		for _, m := range family.GetMetric() {
			if n++; m.Histogram != nil || m.Summary != nil {
				n += 1 + len(m.GetHistogram().GetBucket()) + len(m.GetSummary().GetQuantile())
			}
		}
	}
	return n
}

func TestMetricsTellWhatTheReplicaDoes(t *testing.T) {
	t.Parallel()
	eachOwn(t, func(t *testing.T, s *inProcess) {
		s.Must(201, "/v1/jobs", `{"kind":"review"}`)
		s.Get("/v1/jobs/job_unknown")
		s.Call(http.MethodHead, "/v1/jobs", "")
		s.Call(http.MethodDelete, "/v1/jobs", "")
		s.As("").Get("/v1/nowhere")
		pool := map[string]string{"sqlite": "writer", "postgres": "main"}[s.Store.Engine()]
		want := map[string]map[string]float64{ // -1: any value
			"stint_http_request_duration_seconds": {
				"method=POST route=/v1/jobs status=2xx":    1,
				"method=GET route=/v1/jobs status=2xx":     1,
				"method=GET route=/v1/jobs/:id status=4xx": 1,
				"method=DELETE route=other status=4xx":     1,
				"method=GET route=other status=4xx":        1,
			},
			"stint_http_requests_in_flight":  {"": 1}, // the scrape itself
			"stint_build_info":               {"go_version=" + runtime.Version() + " version=test": 1},
			"stint_pool_connections_max":     {"pool=" + pool: float64(s.Store.Pools()[0].Max)},
			"stint_pool_connections":         {"pool=" + pool + " state=in_use": -1, "pool=" + pool + " state=idle": -1},
			"stint_pool_waits_total":         {"pool=" + pool: -1},
			"stint_loop_passes_total":        {"loop=run-reaper": -1},
			"stint_loop_failures_total":      {"loop=run-reaper": 0},
			"stint_lease_held":               {"lease=queue-figures": 1},
			"stint_queue_due_jobs":           {"kind=review": -1},
			"stint_queue_oldest_due_seconds": {"kind=review": -1},
			"go_goroutines":                  {"": -1},
			"process_open_fds":               {"": -1},
		}
		apitest.Await(t, "the queue's figures", func() bool {
			_, found := s.scrape().value("stint_queue_due_jobs", "kind=review")
			return found
		})
		got := s.scrape()
		for name, all := range want {
			for with, value := range all {
				have, found := got.value(name, with)
				if !found || value >= 0 && have != value {
					t.Errorf("%s{%s} is %v (%v), want %v", name, with, have, found, value)
				}
			}
		}
		if a := s.Get("/metrics"); a.Status != http.StatusNotFound {
			t.Errorf("the API's own listener shows metrics: %s", a)
		}
	})
}

// What clients choose must not become a label of its own.
func TestMetricsStayBoundedWhateverClientsSend(t *testing.T) {
	t.Parallel()
	dbtest.Engines(t, func(t *testing.T, engine string) {
		s := serveMeasuring(t, dbtest.Open(t, store.Config{URL: dbtest.Whole(t, engine)}))
		s.Must(201, "/v1/jobs", `{"kind":"review"}`)
		s.As("").Get("/v1/nowhere")
		before := s.scrape().series()
		items := make([]string, 1000)
		for i := range items {
			items[i] = fmt.Sprintf(`{"kind":"junk%d","key":"k%d"}`, i, i)
		}
		s.Must(200, "/v1/jobs/batch", `{"items":[`+strings.Join(items, ",")+`]}`)
		c := s.As("")
		for i := range 1000 { // each a path of its own
			c.Get(fmt.Sprintf("/v1/junk%d/%d?q=%d", i%100, i, i))
		}
		for i := range 100 {
			c.Call(fmt.Sprintf("JUNK%d", i), "/v1/jobs", "")
		}
		var got families
		apitest.Await(t, "figures with the new kinds", func() bool {
			got = s.scrape()
			due, _ := got.value("stint_queue_due_jobs", "kind=other")
			return due > 0
		})
		if kinds := len(got["stint_queue_due_jobs"].GetMetric()); kinds > 100 {
			t.Errorf("%d kinds have a label", kinds)
		}
		if more := got.series() - before; more > 300 {
			t.Errorf("%d series more than before", more)
		}
		allowed := []string{"route", "method", "status", "pool", "state", "kind", "loop", "lease", "version", "go_version"}
		for _, name := range slices.Sorted(maps.Keys(got)) {
			for _, m := range got[name].GetMetric() {
				for _, l := range m.GetLabel() {
					if !slices.Contains(allowed, l.GetName()) && strings.HasPrefix(name, "stint_") {
						t.Errorf("%s has the label %s", name, l.GetName())
					}
				}
			}
		}
	})
}

// serveMeasuring is serveHere with a server that looks at the queue every three
// seconds, not every fifteen. Its leases are shorter then, but outlive a pause of
// a busy machine.
func serveMeasuring(t *testing.T, s *store.Store) *inProcess {
	t.Helper()
	return serveHereWith(t, s, server.Config{PassEvery: 3 * time.Second})
}

// So that sums over replicas are right.
func TestOneReplicaExportsTheFiguresOfTheQueue(t *testing.T) {
	t.Parallel()
	db := dbtest.Whole(t, store.Postgres) // an SQLite file has one server
	first := serveMeasuring(t, dbtest.Open(t, store.Config{URL: db}))
	exports := func(s *inProcess) bool {
		_, found := s.scrape()["stint_queue_due_jobs"]
		return found
	}
	apitest.Await(t, "figures of the first", func() bool { return exports(first) })
	second := serveMeasuring(t, dbtest.Open(t, store.Config{URL: db}))
	apitest.Await(t, "a pass of the second", func() bool {
		held, found := second.scrape().value("stint_lease_held", "lease=queue-figures")
		passes, _ := second.scrape().value("stint_loop_passes_total", "loop=clock")
		return found && held == 0 && passes > 0
	})
	if exports(second) || !exports(first) {
		t.Errorf("the first exports: %v, the second: %v", exports(first), exports(second))
	}
	if err := first.Stop(); err != nil {
		t.Error(err)
	}
	apitest.Await(t, "figures of the second", func() bool { return exports(second) })
}
