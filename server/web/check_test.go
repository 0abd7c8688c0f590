package web_test

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/web"
)

func TestCheckMayTakeBackWhatIsNoLongerTrue(t *testing.T) {
	each(t, func(t *testing.T, e *edge) {
		web.Write(e.API, web.Op{Method: "POST", Path: "/v1/late", ID: "late", Scope: web.ScopeJobsWork, Faults: []string{"lease_lost"}},
			func(context.Context, model.Querier, coltype.Time, *nothing) (web.Answer[claimed], error) {
				return web.Answer[claimed]{Check: func(coltype.Time, *claimed) (bool, error) { return false, fault.LeaseLost("job_1", "pending") }}, nil
			})
		if got := e.do(t, "POST", "/v1/late", ""); got.Status != http.StatusConflict || got.problem(t).JobID != "job_1" {
			t.Errorf("status %d: %s", got.Status, got.body)
		}
	})
}

// costly is an answer that counts how often it is encoded.
type costly struct {
	Jobs    int `json:"jobs"`
	encodes *atomic.Int64
}

func (c costly) MarshalJSON() ([]byte, error) {
	c.encodes.Add(1)
	return fmt.Appendf(nil, `{"jobs":%d}`, c.Jobs), nil
}

// What a slow commit made untrue is left out of the answer. Its replay has what
// was committed.
func TestAnAnswerIsEncodedAgainOnlyWhenCheckChangedIt(t *testing.T) {
	each(t, func(t *testing.T, e *edge) {
		var encodes atomic.Int64
		var late bool
		web.Write(e.API, web.Op{Method: "POST", Path: "/v1/costly", ID: "costly", Scope: web.ScopeJobsWork},
			func(context.Context, model.Querier, coltype.Time, *nothing) (web.Answer[costly], error) {
				return web.Answer[costly]{Body: costly{2, &encodes}, Check: func(_ coltype.Time, body *costly) (bool, error) {
					if late {
						body.Jobs--
					}
					return late, nil
				}}, nil
			})
		for _, tt := range []struct {
			late    bool
			key     string
			encodes int64
			body    string
		}{
			{false, "", 1, `{"jobs":2}`},
			{false, "intime", 1, `{"jobs":2}`},
			{false, "intime", 0, `{"jobs":2}`},
			{true, "", 2, `{"jobs":1}`},
			{true, "late", 2, `{"jobs":1}`},
			{true, "late", 0, `{"jobs":2}`},
		} {
			late = tt.late
			encodes.Store(0)
			got := e.do(t, "POST", "/v1/costly", "", "Idempotency-Key", tt.key)
			if got.body != tt.body+"\n" || encodes.Load() != tt.encodes {
				t.Errorf("late %v, key %q: encoded %d times, want %d: %s", tt.late, tt.key, encodes.Load(), tt.encodes, got.body)
			}
		}
	})
}
