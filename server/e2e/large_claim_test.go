package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/jobs"
)

// enqueueLarge enqueues jobs of 100 KiB, of which five fit into an answer.
func enqueueLarge(t *testing.T, c *apitest.Client, n int) {
	t.Helper()
	item := fmt.Sprintf(`{"kind":"large","payload":%q}`, strings.Repeat("x", 100<<10))
	c.Must(http.StatusOK, "/v1/jobs/batch", `{"items":[`+strings.Repeat(item+",", n-1)+item+`]}`)
}

const largeClaim = `{"worker":"w","kinds":["large"],"limit":100}`

// Jobs that do not fit into an answer are not claimed: they lose no attempt, and
// the next claims bring them, each once. A replay is as large.
func TestAClaimTakesNoMoreThanItsAnswerHolds(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		enqueueLarge(t, s.Client, 12)
		first := s.Post("/v1/jobs/claim", largeClaim, "Idempotency-Key", "large")
		if n := first.Len("jobs"); n != 5 || len(first.String()) > jobs.AnswerBytes {
			t.Fatalf("%d jobs in %d bytes", n, len(first.String()))
		}
		if n := s.count("jobs where state = 'pending' and attempt = 0"); n != 7 {
			t.Errorf("%d jobs have lost nothing", n)
		}
		if n := s.count("runs where status = 'running'"); n != 5 {
			t.Errorf("%d runs", n)
		}
		again := s.Post("/v1/jobs/claim", largeClaim, "Idempotency-Key", "large")
		if again.Len("jobs") != 5 || again.Str("jobs.4.id") != first.Str("jobs.4.id") {
			t.Errorf("the replay has %d jobs", again.Len("jobs"))
		}
		for _, want := range []int{5, 2, 0} {
			if got := s.Post("/v1/jobs/claim", largeClaim); got.Len("jobs") != want {
				t.Errorf("%d jobs, not %d", got.Len("jobs"), want)
			}
		}
		if n := s.count("jobs where state = 'claimed' and attempt = 1"); n != 12 {
			t.Errorf("%d jobs were claimed once", n)
		}
	})
}
