package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
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
	(&holding{sample: s, claimed: j, end: end}).work()
}

// holding is a job at work.
type holding struct {
	*sample
	claimed
	end  time.Time // of the lease
	lost bool
	late bool // at the time limit
	cmd  *exec.Cmd
}

func (h *holding) work() {
	var stdout, stderr bytes.Buffer
	var group sync.WaitGroup
	h.cmd = exec.Command(h.command)
	h.cmd.Stdin, h.cmd.Stdout, h.cmd.Stderr = bytes.NewReader(h.Payload), &stdout, &stderr
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	h.cmd.WaitDelay = time.Second
	if err := h.cmd.Start(); err != nil {
		panic(err)
	}
	done := make(chan struct{})
	group.Go(func() { h.beats(done) })
	err := h.cmd.Wait()
	close(done)
	group.Wait()
	if h.lost {
		return
	}
	if h.has("log-refused") {
		if a, _ := h.post(h.ID+"/log", map[string]any{"lease_token": h.Token, "seq": 1, "text": "x"}); a.status != http.StatusOK {
			return
		}
	}
	h.report(err, stdout.Bytes(), stderr.String())
	if h.has("report-not-repeated") {
		_, _ = h.post(h.ID+"/heartbeat", map[string]any{"lease_token": h.Token})
		rest(time.Second)
		_, _ = h.post(h.ID+"/heartbeat", map[string]any{"lease_token": h.Token})
	}
}

func (h *holding) kill(sig syscall.Signal) {
	if h.has("cancel-obeyed/children") {
		_ = h.cmd.Process.Signal(sig)
		return
	}
	_ = syscall.Kill(-h.cmd.Process.Pid, sig)
}

// beats renews the lease until done, and ends the command when it must end.
func (h *holding) beats(done <-chan struct{}) {
	for next := time.Second; ; {
		select {
		case <-done:
			return
		case <-time.After(next):
		}
		next = time.Second
		if h.has("heartbeats-in-time") {
			next = 5 * time.Second
		}
		sent := time.Now()
		a, err := h.post(h.ID+"/heartbeat", map[string]any{"lease_token": h.Token})
		if h.renew(a, err, sent) {
			continue
		}
		if time.Until(h.end) < time.Second && !h.has("no-work-after-lease-end") {
			h.lost = true
			h.kill(syscall.SIGKILL)
			return
		}
		next = max(a.retryAfter, 300*time.Millisecond)
	}
}

// renew takes a heartbeat's answer; it tells whether the lease was renewed.
func (h *holding) renew(a answer, err error, sent time.Time) bool {
	switch {
	case err != nil && h.has("heartbeat-trouble"), a.Code == "lease_lost" && !h.has("lease-lost-stops"):
		h.lost = true
		h.kill(syscall.SIGKILL)
		return true
	case err != nil || a.status != http.StatusOK:
		return false
	case a.Directive == "cancel" && !h.has("cancel-obeyed"),
		a.Directive == "drain" && h.has("drain"),
		a.Directive == "added_later" && h.has("tolerates-new-members"):
		h.kill(syscall.SIGTERM)
		return true
	}
	h.end = sent.Add(a.Expires.Sub(a.Now))
	if a.Deadline != nil && a.Deadline.Sub(a.Now) < 2*time.Second && !h.has("timeout") {
		h.late = !h.has("timeout/unreported")
		h.lost = !h.late
		h.kill(syscall.SIGKILL)
	}
	return true
}

// report finishes the job.
func (h *holding) report(err error, stdout []byte, stderr string) {
	body := map[string]any{"lease_token": h.Token}
	action := "complete"
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		action = "fail"
		if !h.has("ends-every-job/cut") {
			stderr = stderr[max(0, len(stderr)-4096):]
		}
		body["error"] = map[string]any{"code": "failed", "message": strings.ToValidUTF8(stderr, "\ufffd")}
	} else if json.Valid(stdout) && !h.has("result-kept") {
		body["result"] = json.RawMessage(stdout)
	} else if h.has("ends-every-job") {
		action = "fail"
		body["error"] = map[string]any{"code": "no_json", "message": ""}
	}
	for range 20 {
		a, err := h.post(h.ID+"/"+action, body)
		switch {
		case err == nil && a.status == http.StatusOK, err != nil && h.has("report-repeated"):
			return
		case err != nil, a.status == http.StatusTooManyRequests, a.status >= 500, h.has("no-report-after-409"):
			h.wait(a)
		case body["result"] != nil && a.status != http.StatusConflict:
			delete(body, "result")
			if h.has("result-refused") {
				action, body["error"] = "fail", map[string]any{"code": "result_refused", "message": ""}
			}
		default:
			fmt.Fprintln(os.Stderr, "refused:", a.status, a.Code)
			return
		}
	}
}
