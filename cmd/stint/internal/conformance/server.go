package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
	"github.com/stint-run/stint/server/fault"
)

// lookEvery is how often a waiting claim looks for a job.
const lookEvery = 20 * time.Millisecond

// reply is an answer before it is sent.
type reply struct {
	status     int
	body       map[string]any
	code       string
	retryAfter int
	raw        []byte // of a replay
}

// ServeHTTP records a call, and answers it as the script wants.
func (t *trial) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return // the worker gave up
	}
	_, _ = io.Copy(io.Discard, r.Body) // a body that is too large is answered all the same
	c, p := t.record(r, raw)
	if p.hang {
		<-r.Context().Done()
		t.note(func() { c.gone = t.closed.IsZero() })
		return
	}
	var a reply
	if !p.reset {
		a = t.answer(r, c, p)
	}
	api.Pause(r.Context(), p.late)
	if p.reset || p.lost {
		reset(w)
		return
	}
	// What is on the tape first can be assessed by what the worker does next.
	t.note(func() {
		c.status, c.code, c.answered = a.status, a.code, time.Now()
		c.retryAfter = time.Duration(a.retryAfter) * time.Second
		c.gone = r.Context().Err() != nil
	})
	a.send(w)
}

// record puts a call on the tape and asks the script about it.
func (t *trial) record(r *http.Request, raw []byte) (*call, plan) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := &call{at: time.Now(), method: r.Method, path: r.URL.Path, header: r.Header, raw: raw}
	c.action, c.job = t.target(r)
	c.n = len(t.of(c.action)) + 1
	_ = json.Unmarshal(raw, &c.body) // what it is not is among its faults
	if c.job != nil {
		c.left = c.job.expires.Sub(c.at)
	}
	t.calls = append(t.calls, c)
	return c, t.rule.plan(&t.tape, c)
}

// target is the action of a request, and the job that it names.
func (t *trial) target(r *http.Request) (action string, j *job) {
	if r.URL.Path == "/readyz" {
		return "readyz", nil
	}
	rest, ok := strings.CutPrefix(r.URL.Path, "/v1/jobs/")
	if !ok || r.Method != http.MethodPost {
		return "", nil
	}
	if rest == "claim" {
		return rest, nil
	}
	id, action, _ := strings.Cut(rest, "/")
	for _, j := range t.jobs {
		if j.id == id {
			return action, j
		}
	}
	return "", nil
}

// answer has the effect of a call, and makes its answer.
func (t *trial) answer(r *http.Request, c *call, p plan) (a reply) {
	if code := t.check(c); code != "" {
		a = problem(code, plan{})
		a.body["errors"] = items(c.faults)
		return a
	}
	if p.code != "" {
		return problem(p.code, p)
	}
	if c.action == "claim" {
		a = t.claim(r, c, p)
	} else {
		t.mu.Lock()
		a = t.act(c, p)
		t.mu.Unlock()
	}
	if p.newMembers && a.body != nil {
		newMembers(a.body)
	}
	return a
}

// act is any call but a claim.
func (t *trial) act(c *call, p plan) reply {
	now, token := c.at, c.text("lease_token")
	switch {
	case c.action == "readyz":
		return reply{status: http.StatusOK, body: map[string]any{"status": "ready"}}
	case c.job == nil:
		return problem("not_found", plan{})
	case c.isFinish():
		if code := c.job.finish(c.action, token, now); code != "" {
			return t.conflict(c.job, code)
		}
		return reply{status: http.StatusOK, body: c.job.finished(c.action)}
	case !c.job.held(token, now), c.action == "heartbeat" && c.job.late(now):
		return t.conflict(c.job, "lease_lost")
	case c.action == "heartbeat":
		c.job.expires = now.Add(t.lease)
		c.job.cap()
		if p.directive == "" {
			p.directive = "continue"
		}
		c.job.cancel = c.job.cancel || p.directive == "cancel"
		return reply{status: http.StatusOK, body: c.job.renewed(p.directive, now)}
	case c.action == "log":
		return reply{status: http.StatusOK, body: c.job.logged(c.body["seq"])}
	}
	return problem("not_found", plan{})
}

func (t *trial) conflict(j *job, code string) reply {
	a := problem(code, plan{})
	a.body["job_id"], a.body["state"] = j.id, j.state
	return a
}

// problem is the answer for a code; one that the API does not have is retryable.
func problem(code string, p plan) reply {
	f, known := fault.Lookup(code)
	if !known {
		f = fault.Code{Title: "Something new", Retryable: true}
	}
	if p.status != 0 {
		f.Status = p.status
	}
	body := shape(client.Problem{})
	for name, value := range map[string]any{
		"type": "/problems/" + code, "title": f.Title, "status": f.Status, "detail": "Scripted by stint conformance.",
		"code": code, "request_id": "conformance", "retryable": f.Retryable, "errors": []any{},
	} {
		body[name] = value
	}
	if p.retryAfter > 0 {
		body["retry_after_ms"] = p.retryAfter * 1000
	}
	return reply{status: f.Status, body: body, code: code, retryAfter: p.retryAfter}
}

func (a reply) send(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if a.code != "" {
		w.Header().Set("Content-Type", "application/problem+json")
	}
	if a.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(a.retryAfter))
	}
	if a.raw != nil {
		w.Header().Set("Idempotent-Replayed", "true")
	} else {
		a.raw = encoded(a.body)
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.raw)
}

func encoded(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// newMembers adds members to an object and to the objects in it.
func newMembers(m map[string]any) {
	for _, value := range m {
		switch v := value.(type) {
		case map[string]any:
			newMembers(v)
		case []any:
			for _, item := range v {
				if item, ok := item.(map[string]any); ok {
					newMembers(item)
				}
			}
		}
	}
	m["added_later"] = map[string]any{"list": []any{1, "two", nil}}
}

// reset ends the connection without an answer, as one that broke on the way.
func reset(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(errors.Join(err, http.ErrAbortHandler))
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	conn.Close()
}
