package main

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stint-run/stint/server/apitest"
)

// A claim waits at the server for up to 20 s, the shortest lease is 10 s.
func TestAJobClaimedLateInThePollIsWorked(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *replica) {
		w := s.work("echo 1", "--max-jobs", "1", "--lease", "10s")
		id := s.enqueue(`"run_at":"` + time.Now().Add(14*time.Second).UTC().Format(time.RFC3339) + `"`)
		if code := w.exit(t); code != 0 {
			t.Errorf("exit %d", code)
		}
		if job := s.job(id); job.State != "succeeded" || job.Attempt != 1 {
			t.Errorf("the job is %s at attempt %d", job.State, job.Attempt)
		}
	})
}

// withheld is a proxy that keeps the first claim's answer to itself. committed
// is closed when it has come.
func withheld(t *testing.T, s *replica) (url string, committed chan struct{}) {
	t.Helper()
	committed = make(chan struct{})
	var first sync.Once
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(mustParse(t, s.Base())) },
		ModifyResponse: func(resp *http.Response) error {
			if strings.HasSuffix(resp.Request.URL.Path, "/claim") {
				first.Do(func() {
					close(committed)
					<-resp.Request.Context().Done()
				})
			}
			return nil
		},
	})
	t.Cleanup(proxy.Close)
	return proxy.URL, committed
}

func mustParse(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestWorkThatIsStoppedReleasesWhatItHasJustClaimed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *replica) {
		id := s.enqueue()
		proxy, committed := withheld(t, s)
		w := s.work("true", "--server", proxy)
		select {
		case <-committed:
		case <-w.ended:
			t.Fatal("the worker ended before it had claimed anything")
		}
		if job := s.job(id); job.State != "claimed" {
			t.Fatalf("the job is %s, and the claim is answered", job.State)
		}
		w.term(t)
		if code := w.exit(t); code != 0 {
			t.Errorf("exit %d", code)
		}
		if job := s.job(id); job.State != "pending" || job.Attempt != 0 {
			t.Errorf("the job is %s at attempt %d", job.State, job.Attempt)
		}
	})
}

// While a replica drains, commands run on, and claims come again once a server
// takes them.
func TestWorkOutlivesADrain(t *testing.T) {
	t.Parallel()
	eachServing(t, func(t *testing.T, s *serving) {
		s.kill()
		s.start("--drain-delay", "10m")
		file := filepath.Join(t.TempDir(), "go")
		first := s.enqueue()
		busy := s.work("echo started; while [ ! -e "+file+" ]; do sleep 0.1; done", "--max-jobs", "2", "--concurrency", "2", "--lease", "10s")
		apitest.Await(t, "command that runs", func() bool { return busy.out.Has("started\n") })
		s.term(t)
		apitest.Await(t, "drain that a heartbeat tells of", func() bool { return busy.out.Has("the server is stopping") })
		second, third := s.enqueue(), s.enqueue()
		idle := s.work("true", "--max-jobs", "1")
		apitest.Await(t, "claim while the server drains", func() bool {
			_, drained, _ := strings.Cut(s.out.String(), "msg=draining")
			return strings.Contains(drained, "/v1/jobs/claim")
		})
		for _, id := range []string{second, third} {
			if job := s.job(id); job.State != "pending" {
				t.Errorf("the job is %s", job.State)
			}
		}
		s.kill()
		s.start()
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, w := range []*process{busy, idle} {
			if code := w.exit(t); code != 0 {
				t.Errorf("exit %d", code)
			}
		}
		for _, id := range []string{first, second, third} {
			if job := s.job(id); job.State != "succeeded" || job.Attempt != 1 {
				t.Errorf("the job is %s at attempt %d", job.State, job.Attempt)
			}
		}
	})
}
