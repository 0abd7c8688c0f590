package metrics_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/metrics"
	"github.com/stint-run/stint/server/store"
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

// looked is a Metrics after one pass, of which it returns the statements.
func looked(t *testing.T, s *store.Store) (*metrics.Metrics, int64) {
	t.Helper()
	dbtest.Freeze(s)
	m := metrics.New("test")
	return m, look(t, m, s)
}

func look(t *testing.T, m *metrics.Metrics, s *store.Store) int64 {
	t.Helper()
	ctx, stats := store.WithStats(t.Context())
	if _, err := m.Loops()[0].Run(ctx, s); err != nil {
		t.Fatal(err)
	}
	return stats.Statements()
}

// plant enqueues n jobs of a kind and priority, the first due for age at T0.
func plant(t *testing.T, s *store.Store, owner, kind string, priority, n int, age time.Duration) {
	t.Helper()
	numbers, at := "generate_series(1, $5::int) i", "to_timestamp($6::float8 / 1000000)"
	if s.Engine() == store.SQLite {
		numbers, at = "(with recursive n(i) as (select 1 union all select i + 1 from n where i < $5) select i from n)", "$6"
	}
	text := "cast($3 as text)"
	dbtest.SQL(t, s, strings.NewReplacer("NUMBERS", numbers, "AT", at, "KIND", text).Replace(
		`insert into jobs (id, owner_id, kind, state, payload, priority, run_at, attempt, max_attempts, created_at, updated_at)
		select cast($1 as text) || cast(i as text), cast($2 as text), KIND, 'pending', '{}', cast($4 as integer), AT, 0, 5, AT, AT from NUMBERS`),
		fmt.Sprint("job_", owner, kind, priority, age), owner, kind, priority, n, dbtest.T0.Add(-age).UnixMicro())
}

// plantKinds registers kinds a1 to an, later than every other.
func plantKinds(t *testing.T, s *store.Store, owner string, n int) {
	t.Helper()
	numbers, late := fmt.Sprintf("generate_series(1, %d) i", n), "to_timestamp(4000000000)"
	if s.Engine() == store.SQLite {
		numbers, late = fmt.Sprintf("(with recursive n(i) as (select 1 union all select i + 1 from n where i < %d) select i from n)", n), "4000000000000000"
	}
	dbtest.SQL(t, s, `insert into job_kinds (owner_id, name, lease_seconds, max_attempts, backoff_base_seconds, backoff_cap_seconds, version, created_at, updated_at)
		select '`+owner+`', 'a' || cast(i as text), 60, 5, 5, 9, 1, `+late+`, `+late+` from `+numbers)
}

func TestQueueFiguresCountWhatIsDueByKind(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		ada, bob := dbtest.Owner(t, s, "ada").ID, dbtest.Owner(t, s, "bob").ID
		plant(t, s, ada, "review", 1, 2, 3*time.Second)
		plant(t, s, ada, "review", 4, 3, 90*time.Second)
		plant(t, s, bob, "review", 4, 1, 10*time.Second)
		plant(t, s, bob, "sync", 3, metrics.CountCapForTest+1, time.Second)
		plant(t, s, bob, "sync", 2, 7, -time.Second) // not yet due
		m, _ := looked(t, s)
		got := scrape(t, m)
		for name, want := range map[string]map[string]float64{
			"stint_queue_due_jobs":           {"review": 6, "sync": metrics.CountCapForTest, "implement": 0, "discover": 0},
			"stint_queue_oldest_due_seconds": {"review": 90, "sync": 1, "implement": 0, "discover": 0},
			"stint_queue_kinds_truncated":    {"": 0},
			"stint_queue_overdue_leases":     {"": 0},
		} {
			if have := got.values(name); fmt.Sprint(have) != fmt.Sprint(want) {
				t.Errorf("%s is %v, want %v", name, have, want)
			}
		}
	})
}

func TestKindsBeyondTheLabelsAreCountedTogether(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		ada := dbtest.Owner(t, s, "ada").ID
		plantKinds(t, s, ada, 1000)
		plant(t, s, ada, "review", 3, 1, time.Second)
		plant(t, s, ada, "a998", 3, 2, time.Second)
		plant(t, s, ada, "a999", 3, 3, time.Second)
		m, statements := looked(t, s)
		due := scrape(t, m).values("stint_queue_due_jobs")
		if len(due) != metrics.LabelledForTest || due["review"] != 1 || due["other"] != 5 {
			t.Errorf("%d labels, review %v, other %v: %v", len(due), due["review"], due["other"], due)
		}
		if pages := int64(5); statements > 3*pages+1 {
			t.Errorf("a look ran %d statements for %d pages of kinds", statements, pages)
		}
	})
}

// TestQueueFiguresWithoutAKindBehindAPage: before the first owner there is no
// kind at all, and a full page may be the last one.
func TestQueueFiguresWithoutAKindBehindAPage(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		m, _ := looked(t, s)
		if due := scrape(t, m).values("stint_queue_due_jobs"); len(due) > 0 {
			t.Errorf("without an owner: %v", due)
		}
		ada := dbtest.Owner(t, s, "ada").ID
		plantKinds(t, s, ada, metrics.KindsPageForTest-dbtest.Get[int](t, s, "select count(*) from job_kinds"))
		look(t, m, s)
		if due := scrape(t, m).values("stint_queue_due_jobs"); len(due) != metrics.LabelledForTest {
			t.Errorf("with a full page of kinds: %v", due)
		}
	})
}

func TestQueueFiguresThatGrewOldAreNotExported(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		dbtest.Owner(t, s, "ada")
		m := metrics.New("test")
		now := time.Now()
		m.TimeForTest(func() time.Time { return now })
		steps := []struct {
			name string
			do   func()
			want bool
		}{
			{"before the first look", func() {}, false},
			{"after it", func() { look(t, m, s) }, true},
			{"while it lasts", func() { now = now.Add(metrics.FiguresLastForTest) }, true},
			{"too long after it", func() { now = now.Add(time.Second) }, false},
			{"after another", func() { look(t, m, s) }, true},
		}
		for _, step := range steps {
			step.do()
			_, has := scrape(t, m)["stint_queue_due_jobs"]
			if has != step.want {
				t.Errorf("%s: figures %v", step.name, has)
			}
		}
	})
}
