package main

import (
	"encoding/pem"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stint-run/stint/server/apitest"
)

// The command has done its work, the server is away, and then the worker is killed
// or freezes: the supervisor reports in its place, and the command is not run again.
func TestAFinishedCommandIsReportedWithoutItsWorker(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "frozen": syscall.SIGSTOP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachServing(t, func(t *testing.T, s *serving) { reportWithout(t, s, signal) })
		})
	}
}

func reportWithout(t *testing.T, s *serving, signal syscall.Signal) {
	id, dir := s.enqueue(), t.TempDir()
	runs, file, temp := filepath.Join(dir, "runs"), filepath.Join(dir, "go"), filepath.Join(dir, "tmp")
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	script := "echo x >>" + runs + "; echo started; until [ -e " + file + ` ]; do sleep 0.05; done; echo '{"answer":42}'`
	w := spawn(t, append(s.env(), "TMPDIR="+temp), "stint", "work", "--kinds", "audit", "--max-jobs", "1", "--lease", "20s", "--", "sh", "-c", script)
	apitest.Await(t, "command that runs", func() bool { return w.out.Has("started\n") })
	s.kill()
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	apitest.Await(t, "report without a server", func() bool { return w.out.Has("cannot report for now") })
	if err := w.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	s.start()
	if job := s.awaitState(id, "succeeded"); string(job.Result) != `{"answer":42}` || job.Attempt != 1 {
		t.Errorf("the job is %s at attempt %d with %s", job.State, job.Attempt, job.Result)
	}
	if text, _ := os.ReadFile(runs); string(text) != "x\n" {
		t.Errorf("the command was run for %q", text)
	}
	apitest.Await(t, "no files of the attempt", func() bool {
		left, err := os.ReadDir(temp)
		return err == nil && len(left) == 0
	})
	if signal != syscall.SIGSTOP {
		return
	}
	if err := w.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if code := w.exit(t); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// A command that was killed because its worker was is not run again if it had said
// how its job ends. The supervisor finds the server as the worker did: over HTTPS, by
// the authorities of --ca-file.
func TestWhatACommandSaidOutlivesItsWorker(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *replica) {
		id := s.enqueue()
		script := `echo 7 >$STINT_RESULT; echo '{"outcome":"complete"}' >$STINT_OUTCOME; echo said; sleep 600`
		base, caFile := overHTTPS(t, s.Base())
		w := spawn(t, s.env(), "stint", "work", "--server", base, "--ca-file", caFile, "--kinds", "audit", "--", "sh", "-c", script)
		apitest.Await(t, "command that works on", func() bool { return w.out.Has("said\n") })
		w.kill()
		if job := s.awaitState(id, "succeeded"); string(job.Result) != "7" || job.Attempt != 1 {
			t.Errorf("the job is %s at attempt %d with %s", job.State, job.Attempt, job.Result)
		}
	})
}

// overHTTPS is a proxy before a server, and a file with the authority of its
// certificate.
func overHTTPS(t *testing.T, server string) (base, caFile string) {
	t.Helper()
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewTLSServer(httputil.NewSingleHostReverseProxy(to))
	t.Cleanup(proxy.Close)
	caFile = filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: proxy.Certificate().Raw})
	if err := os.WriteFile(caFile, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return proxy.URL, caFile
}
