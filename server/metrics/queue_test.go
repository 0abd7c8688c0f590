package metrics_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/metrics"
)

// scraped are the families of one scrape, by name.
type scraped map[string]*dto.MetricFamily

func scrape(t *testing.T, m *metrics.Metrics) scraped {
	t.Helper()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(w.Body)
	if w.Code != http.StatusOK || err != nil {
		t.Fatalf("%d: %v", w.Code, err)
	}
	return families
}

// values are those of a family by its one label.
func (s scraped) values(name string) map[string]float64 {
	out := map[string]float64{}
	for _, m := range s[name].GetMetric() {
		label := ""
		if len(m.Label) > 0 {
			label = m.Label[0].GetValue()
		}
		out[label] = m.GetGauge().GetValue()
	}
	return out
}

// t0 is when kinds are registered.
var t0 = coltype.At(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))

func TestKindsBeyondTheLabelsAreExportedTogether(t *testing.T) {
	t.Parallel()
	m := metrics.New("test")
	found := metrics.Queue{Kinds: map[string]metrics.KindBacklog{
		"review": {Registered: t0, Due: metrics.Backlog{Count: 1, Oldest: time.Second}},
	}, Cut: true, Overdue: metrics.Backlog{Count: 7, Oldest: time.Minute}}
	for i := range int64(1000) {
		found.Kinds[fmt.Sprint("a", i)] = metrics.KindBacklog{Registered: t0.Add(time.Hour)}
	}
	found.Kinds["a998"] = metrics.KindBacklog{Registered: t0.Add(time.Hour), Due: metrics.Backlog{Count: 2, Oldest: 90 * time.Second}}
	found.Kinds["a999"] = metrics.KindBacklog{Registered: t0.Add(time.Hour), Due: metrics.Backlog{Count: 3, Oldest: time.Minute}}
	m.SetQueue(found)
	got := scrape(t, m)
	due, oldest := got.values("stint_queue_due_jobs"), got.values("stint_queue_oldest_due_seconds")
	if len(due) != metrics.LabelledForTest || due["review"] != 1 || due["other"] != 5 || oldest["other"] != 90 {
		t.Errorf("%d labels, review %v, other %v since %v: %v", len(due), due["review"], due["other"], oldest["other"], due)
	}
	for name, want := range map[string]float64{
		"stint_queue_kinds_truncated": 1, "stint_queue_overdue_leases": 7, "stint_queue_oldest_overdue_lease_seconds": 60,
	} {
		if value, has := got.values(name)[""]; !has || value != want {
			t.Errorf("%s is %v, %v; want %v", name, value, has, want)
		}
	}
}

func TestQueueFiguresThatGrewOldAreNotExported(t *testing.T) {
	t.Parallel()
	m := metrics.New("test")
	now := time.Now()
	m.TimeForTest(func() time.Time { return now })
	look := func() { m.SetQueue(metrics.Queue{Kinds: map[string]metrics.KindBacklog{"review": {}}}) }
	steps := []struct {
		name string
		do   func()
		want bool
	}{
		{"before the first look", func() {}, false},
		{"after it", look, true},
		{"while it lasts", func() { now = now.Add(metrics.FiguresLastForTest) }, true},
		{"too long after it", func() { now = now.Add(time.Second) }, false},
		{"after another", look, true},
	}
	for _, step := range steps {
		step.do()
		_, has := scrape(t, m)["stint_queue_due_jobs"]
		if has != step.want {
			t.Errorf("%s: figures %v", step.name, has)
		}
	}
}
