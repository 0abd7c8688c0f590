package ops_test

import (
	"fmt"
	"testing"

	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/jobs"
)

// A heartbeat and a finish name no worker: it is known from the claim.
func TestEveryCallOfAWorkerCountsAsSeen(t *testing.T) {
	each(t, func(t *testing.T, c caller) {
		workers := control.NewWorkers()
		jobs.Routes(c.api, c.store, jobs.NewHub(nil), workers)
		first := func(call string) {
			t.Helper()
			if n, err := workers.Loops()[0].Run(t.Context(), c.store); err != nil || n != 1 {
				t.Errorf("%s: %d workers were seen, %v", call, n, err)
			}
		}
		var none any
		c.do("POST", "/v1/jobs/claim", `{"worker":"w 1","kinds":["review"]}`, 200, &none)
		first("a claim that finds nothing")
		c.do("POST", "/v1/jobs", `{"kind":"review"}`, 201, &none)
		var claim struct {
			Jobs []struct {
				ID         string
				LeaseToken string `json:"lease_token"`
			}
		}
		c.do("POST", "/v1/jobs/claim", `{"worker":"w 1","kinds":["review"]}`, 200, &claim)
		first("a claim")
		job := claim.Jobs[0]
		lease := `{"lease_token":"` + job.LeaseToken + `"}`
		for _, action := range []string{"heartbeat", "complete", "complete"} {
			c.do("POST", "/v1/jobs/"+job.ID+"/"+action, lease, 200, &none)
			first(action)
		}
		var page struct{ Data []struct{ Name string } }
		c.do("GET", "/v1/workers", "", 200, &page)
		if fmt.Sprint(page.Data) != "[{w 1}]" {
			t.Errorf("%v", page.Data)
		}
	})
}
