package work

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestADrainingServerIsNotAskedForMore(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]int{"back": 200, "behind a proxy that hides its health": 404} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			drain(t, back)
		})
	}
}

// drain has a worker hear of a drain, which is over when its server's health is
// answered with the status.
func drain(t *testing.T, back int) {
	f := &fake{reply: func(f *fake, c call) (int, string) {
		switch c.action {
		case "claim":
			if len(f.of("claim")) == 1 {
				return 200, oneJob(3 * time.Second)
			}
			return 200, none
		case "heartbeat":
			return 200, `{"directive":"drain","lease_expires_at":"2030-01-01T00:00:00Z"}`
		case "readyz":
			if len(f.of("readyz")) < 2 {
				return 503, away
			}
			return back, `{}`
		}
		return 200, finished
	}}
	dir := t.TempDir()
	ended := startWork(t, f, Config{ExitWhenIdle: 100 * time.Millisecond}, "until [ -e "+dir+"/go ]; do sleep 0.05; done")
	waitFor(t, func() bool { return len(f.done("heartbeat")) > 0 })
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	end(t, ended)
	f.mu.Lock()
	defer f.mu.Unlock()
	var order []string
	for _, c := range f.calls {
		if c.action != "heartbeat" {
			order = append(order, c.action)
		}
	}
	got := strings.Join(order, " ")
	if !strings.HasPrefix(got, "claim complete readyz readyz") && !strings.HasPrefix(got, "claim readyz") {
		t.Errorf("the server was asked for: %s", got)
	}
	if strings.Contains(strings.SplitN(got, "readyz readyz", 2)[0][len("claim"):], "claim") {
		t.Errorf("claimed while the server drained: %s", got)
	}
}
