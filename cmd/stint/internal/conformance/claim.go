package conformance

import (
	"bytes"
	"net/http"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
)

// kept answers of claims, by Idempotency-Key.
type keptAnswer struct {
	request []byte
	answer  []byte
}

// claim hands out one job, waiting for it as long as the worker has asked for.
func (t *trial) claim(r *http.Request, c *call, p plan) reply {
	key := c.header.Get("Idempotency-Key")
	if before, ok := t.replay(key); ok {
		if !bytes.Equal(before.request, c.raw) {
			return problem("idempotency_key_reused", plan{})
		}
		return reply{status: http.StatusOK, raw: before.answer}
	}
	wait, _ := c.body["wait_seconds"].(float64)
	until := c.at.Add(time.Duration(wait * float64(time.Second)))
	for {
		body := t.take(c, p)
		if body == nil && !p.empty && time.Now().Before(until) && api.Pause(r.Context(), lookEvery) {
			continue
		}
		if body == nil {
			body = shape(client.ClaimAnswer{})
			body["jobs"], body["poll_after_ms"] = []any{}, pollAfter.Milliseconds()
		} else if key != "" {
			t.keep(key, c.raw, body)
		}
		return reply{status: http.StatusOK, body: body}
	}
}

// take is the answer with the next job, or nil if there is none.
func (t *trial) take(c *call, p plan) map[string]any {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.empty || t.rule.ready != nil && !t.rule.ready(&t.tape) {
		return nil
	}
	if p.again && t.lastClaim != nil {
		return t.lastClaim
	}
	for _, j := range t.jobs {
		if j.state != "pending" {
			continue
		}
		j.claim(time.Now(), t.lease, t.times(t.rule.limit))
		c.job = j
		t.lastClaim = map[string]any{"jobs": []any{j.claimed(c.text("worker"))}, "poll_after_ms": 0}
		return t.lastClaim
	}
	return nil
}

func (t *trial) replay(key string) (keptAnswer, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a, ok := t.kept[key]
	return a, ok && key != ""
}

func (t *trial) keep(key string, request []byte, body map[string]any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept[key] = keptAnswer{request, encoded(body)}
}
