package work

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Something on the way holds up reports for longer than whoever stops the worker
// waits. The worker ends in time, and the report is made all the same.
func TestAWorkerThatStopsLeavesItsReportsToTheSupervisors(t *testing.T) {
	t.Parallel()
	f := working(30 * time.Second)
	answer := f.reply
	var open atomic.Bool
	f.reply = func(f *fake, c call) (int, string) {
		switch {
		case c.action == "claim" && len(f.of("claim")) > 1:
			return 200, none
		case c.action == "complete" && !open.Load():
			return 502, "the proxy has lost the server"
		}
		return answer(f, c)
	}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	temp := t.TempDir()
	w := exec.Command(os.Args[0], "/bin/sh", "-c", "echo 7")
	w.Env = append(os.Environ(), workerOf+"="+server.URL, "TMPDIR="+temp)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(60*time.Second, func() { _ = w.Process.Kill() })
	t.Cleanup(func() { late.Stop() })
	waitFor(t, func() bool { return len(f.done("complete")) > 0 })
	if err := w.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := w.Wait(); err != nil {
		t.Fatalf("the worker ended with %v", err)
	}
	open.Store(true)
	waitFor(t, func() bool { left, err := os.ReadDir(temp); return err == nil && len(left) == 0 })
	reports := f.done("complete")
	if last := reports[len(reports)-1].body; !strings.Contains(last, `"result":7`) {
		t.Errorf("reported %s", last)
	}
}
