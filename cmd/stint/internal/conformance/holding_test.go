package conformance_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/conformance"
)

// holding is a job at work.
type holding struct {
	*sample
	claimed
	sent time.Time // the claim
	end  time.Time // of the lease
	lost bool
	late bool // at the time limit
	cmd  *exec.Cmd
	// ended is closed when work without a command must not go on.
	ended chan struct{}
	once  sync.Once
}

func (h *holding) work() {
	var group sync.WaitGroup
	done := make(chan struct{})
	h.ended = make(chan struct{})
	run := h.runCommand
	if h.has("handler") {
		run = h.handle
	}
	stdout, stderr, err := run(func() { group.Go(func() { h.beats(done) }) })
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
	h.report(err, stdout, stderr)
	if h.has("report-not-repeated") {
		_, _ = h.post(h.ID+"/heartbeat", map[string]any{"lease_token": h.Token})
		rest(time.Second)
		_, _ = h.post(h.ID+"/heartbeat", map[string]any{"lease_token": h.Token})
	}
}

// runCommand runs {command}; begun is called when it is under way.
func (h *holding) runCommand(begun func()) ([]byte, string, error) {
	var stdout, stderr bytes.Buffer
	h.cmd = exec.Command(h.command)
	h.cmd.Stdin, h.cmd.Stdout, h.cmd.Stderr = bytes.NewReader(h.Payload), &stdout, &stderr
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	h.cmd.WaitDelay = time.Second
	if err := h.cmd.Start(); err != nil {
		panic(err)
	}
	begun()
	err := h.cmd.Wait()
	return stdout.Bytes(), stderr.String(), err
}

// handle does the same without a command, as docs/conformance.md tells a handler.
func (h *holding) handle(begun func()) ([]byte, string, error) {
	var in conformance.Instructions
	if err := json.Unmarshal(h.Payload, &in); err != nil {
		panic(err)
	}
	watch, err := net.Dial("tcp", in.Watch)
	if err != nil {
		panic(err)
	}
	defer watch.Close()
	fmt.Fprintf(watch, `{"work": %q, "pid": 0}`+"\n", in.Work)
	begun()
	stdout, _ := in.Stdout.Bytes()
	stderr, _ := in.Stderr.Bytes()
	select {
	case <-h.ended:
		return stdout, string(stderr), errors.New("ended")
	case <-time.After(time.Duration(in.Seconds * float64(time.Second))):
	}
	fmt.Fprintln(watch, "done")
	if in.Exit != 0 || in.Signal != 0 {
		err = errors.New("failed")
	}
	return stdout, string(stderr), err
}

func (h *holding) kill(sig syscall.Signal) {
	if h.cmd == nil {
		h.once.Do(func() { close(h.ended) })
		return
	}
	if h.has("cancel-obeyed/children") {
		_ = h.cmd.Process.Signal(sig)
		return
	}
	_ = syscall.Kill(-h.cmd.Process.Pid, sig)
}

// beats renews the lease until done, and ends the command when it must end.
func (h *holding) beats(done <-chan struct{}) {
	if h.has("timeout-after-wait") {
		limit := h.sent.Add(h.Deadline.Sub(h.UpdatedAt))
		time.AfterFunc(time.Until(limit), func() { h.kill(syscall.SIGKILL) })
	}
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
		if time.Until(h.end) < time.Second && !h.has("no-work-after-lease-end") && !h.has("timeout") {
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
	case err != nil && h.has("heartbeat-trouble"), a.Code == "lease_lost" && !h.has("lease-lost-stops") && !h.has("timeout"):
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
