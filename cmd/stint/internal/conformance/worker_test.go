package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
)

// sample is a worker that keeps every rule, but for the one that its flaw is made
// to break. A flaw has the name of its rule; a rule may have several, rule/how.
type sample struct {
	flaw, kind, command string

	stopping context.Context
	worked   map[string]bool // by lease token
}

func (s *sample) has(flaw string) bool { return s.flaw == flaw }

type answer struct {
	status     int
	retryAfter time.Duration
	Code       string
	Jobs       []claimed
	PollAfter  int64 `json:"poll_after_ms"`
	lease
	Directive string
}

type claimed struct {
	ID      string
	Payload json.RawMessage
	Token   string `json:"lease_token"`
	lease
	UpdatedAt time.Time `json:"updated_at"`
}

type lease struct {
	Expires  time.Time  `json:"lease_expires_at"`
	Now      time.Time  `json:"now"`
	Deadline *time.Time `json:"deadline_at"`
}

func runSample(args []string) {
	s := &sample{flaw: args[0], kind: args[1], command: args[2], worked: map[string]bool{}}
	s.stopping = context.Background()
	if !s.has("stop") {
		stopping, stop := signal.NotifyContext(s.stopping, syscall.SIGTERM)
		defer stop()
		s.stopping = stopping
	}
	for s.stopping.Err() == nil || s.has("stop/claims") {
		s.next()
	}
}

// post sends a request; an error means that no answer came.
func (s *sample) post(path string, body map[string]any, header ...string) (a answer, err error) {
	if s.has("valid-requests") {
		body["colour"] = "red"
	}
	text, _ := json.Marshal(body)
	patience := 25 * time.Second
	if strings.HasSuffix(path, "heartbeat") {
		patience = time.Second
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, "POST", os.Getenv("STINT_SERVER")+"/v1/jobs/"+path, bytes.NewReader(text))
	r.GetBody = nil // the transport repeats nothing by itself
	r.Header.Set("Content-Type", "application/json")
	if s.has("content-type") {
		r.Header.Set("Content-Type", "text/plain")
	}
	if !s.has("auth") {
		r.Header.Set("Authorization", "Bearer "+os.Getenv("STINT_TOKEN"))
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return a, err
	}
	seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
	a.status, a.retryAfter = resp.StatusCode, time.Duration(seconds)*time.Second
	return a, json.Unmarshal(raw, &a)
}

// wait is the pause before a repetition.
func (s *sample) wait(a answer) {
	d := 300 * time.Millisecond
	if !s.has("retry-after") {
		d = max(d, a.retryAfter)
	}
	rest(d)
}

// rest does nothing for d: the sample is a program, which a test waits for.
func rest(d time.Duration) { <-time.After(d) }

// next makes one claim, until it is answered, and works on what it brings.
func (s *sample) next() {
	key, sent := uuid.NewString(), time.Now()
	for {
		asked := time.Now()
		a, err := s.post("claim", map[string]any{"worker": "sample", "kinds": []string{s.kind}, "wait_seconds": 10}, "Idempotency-Key", key)
		switch {
		case err != nil && s.has("server-away"), a.status == http.StatusUnauthorized && !s.has("claim-refused"):
			os.Exit(1)
		case err == nil && a.status == http.StatusUnauthorized:
			return
		case err != nil || a.status != http.StatusOK:
			if s.stopping.Err() != nil {
				return
			}
			if !s.has("server-away/hot") {
				s.wait(a)
			}
			if s.has("claim-repeated") {
				key = uuid.NewString()
			}
			continue
		case len(a.Jobs) == 0 && !s.has("empty-claim"):
			rest(time.Duration(a.PollAfter)*time.Millisecond - time.Since(asked))
		}
		for _, j := range a.Jobs {
			if s.stopping.Err() != nil && s.has("stop-waiting") {
				return
			}
			s.take(j, sent)
		}
		return
	}
}

// take makes sure of the lease, and works.
func (s *sample) take(j claimed, sent time.Time) {
	if s.worked[j.Token] && !s.has("duplicate-answer") {
		return
	}
	s.worked[j.Token] = true
	end := sent.Add(j.Expires.Sub(j.UpdatedAt))
	if time.Now().After(end) && !s.has("late-claim") {
		now := time.Now()
		a, err := s.post(j.ID+"/heartbeat", map[string]any{"lease_token": j.Token})
		if err != nil || a.status != http.StatusOK {
			return
		}
		end = now.Add(a.Expires.Sub(a.Now))
	}
	(&holding{sample: s, claimed: j, sent: sent, end: end}).work()
}
