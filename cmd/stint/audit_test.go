package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/apitest"
)

// big are modules whose source takes more than a moment to read.
var big = []string{"modernc.org/libc", "modernc.org/sqlite", "golang.org/x/text", "golang.org/x/sys", "golang.org/x/net", "golang.org/x/crypto"}

// auditJobs is a line for each of the first modules that this one is built from, as
// docs/examples/audit/audit.sh makes them, and their keys.
func auditJobs(t *testing.T, most int) (ndjson []byte, keys []string) {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}", "./...")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		f := strings.Split(lines.Text(), "\t")
		if len(keys) == most || len(f) != 3 || slices.Contains(keys, f[0]) || slices.Contains(big, f[0]) {
			continue
		}
		keys = append(keys, f[0])
		ndjson = fmt.Appendf(ndjson, `{"key":%q,"payload":{"path":%q,"version":%q,"dir":%q}}`+"\n", f[0], f[0], f[1], f[2])
	}
	if len(keys) < 10 {
		t.Fatalf("only %d modules: %v", len(keys), keys)
	}
	return ndjson, keys
}

// The main job on real input: a worker, and then the server, are killed and
// started again on the way.
func TestAuditSurvivesKilledWorkersAndServers(t *testing.T) {
	t.Parallel()
	auditKilled(t, 12)
}

// auditKilled audits so many modules. make soak audits all of them.
func auditKilled(t *testing.T, most int) {
	t.Helper()
	ndjson, keys := auditJobs(t, most)
	module, err := filepath.Abs("../../docs/examples/audit/audit-module")
	if err != nil {
		t.Fatal(err)
	}
	eachServing(t, func(t *testing.T, s *serving) {
		a := &audit{serving: s, module: module, hold: filepath.Join(t.TempDir(), "hold")}
		a.enqueueAll(ndjson, len(keys))
		a.setHold(true)
		var workers []*process
		for i := range 4 {
			workers = append(workers, a.worker(i))
		}
		apitest.Await(t, "four jobs at work", func() bool { return len(s.runs("status=running")) == 4 })
		dead := a.runOf("audit-0")
		workers[0].kill()
		workers[0] = a.worker(0)

		a.setHold(false)
		apitest.Await(t, "some results", func() bool { return len(s.runs("status=succeeded")) >= 3 })
		a.setHold(true)
		s.kill()
		a.setHold(false)
		s.start()

		apitest.Await(t, "every result", func() bool { return len(a.jobs("&state=succeeded")) == len(keys) })
		for _, w := range workers {
			w.term(t)
		}
		for _, w := range workers {
			if code := w.exit(t); code != 0 {
				t.Errorf("a worker ended with %d", code)
			}
		}
		a.checkJobs(keys)
		a.checkLedger(dead)
	})
}

// audit is the example on a server.
type audit struct {
	*serving
	module string
	hold   string // while this file is there, commands do not begin
}

func (a *audit) enqueueAll(ndjson []byte, want int) {
	a.t.Helper()
	file := filepath.Join(a.t.TempDir(), "modules")
	if err := os.WriteFile(file, ndjson, 0o600); err != nil {
		a.t.Fatal(err)
	}
	for _, fresh := range []int{want, 0} { // the second time each is live already
		cmd := exec.Command("stint", "job", "enqueue", "--kind", "audit", "--from", file, "-o", "json")
		cmd.Env = a.env()
		out, err := cmd.Output()
		var sum enqueueSum
		if err != nil || json.Unmarshal(out, &sum) != nil || sum.Enqueued != fresh || sum.Deduplicated != want-fresh || len(sum.Refused) > 0 {
			a.t.Fatalf("enqueued: %v %s", err, out)
		}
	}
}

func (a *audit) worker(i int) *process {
	a.t.Helper()
	script := fmt.Sprintf("while [ -e %s ]; do sleep 0.1; done; exec %s", a.hold, a.module)
	return a.work(script, "--lease", "10s", "--worker", fmt.Sprintf("audit-%d", i))
}

func (a *audit) setHold(on bool) {
	a.t.Helper()
	err := os.Remove(a.hold)
	if on {
		err = os.WriteFile(a.hold, nil, 0o600)
	}
	if err != nil && !os.IsNotExist(err) {
		a.t.Fatal(err)
	}
}

func (a *audit) runOf(worker string) wireRun {
	a.t.Helper()
	for _, run := range a.runs("status=running") {
		if run.Worker == worker {
			return run
		}
	}
	a.t.Fatalf("%s has no run", worker)
	return wireRun{}
}

func (a *audit) jobs(query string) []wireJob {
	a.t.Helper()
	var page struct{ Data []wireJob }
	a.get("/v1/jobs?limit=200"+query, &page)
	return page.Data
}

// checkJobs finds exactly one job with a result for each module.
func (a *audit) checkJobs(keys []string) {
	a.t.Helper()
	var got []string
	for _, job := range a.jobs("") {
		var result struct {
			Module, Version, License string
			Bytes, Packages          int
		}
		if err := json.Unmarshal(job.Result, &result); err != nil || job.State != "succeeded" || result.Module != job.Key {
			a.t.Errorf("%s is %s with %s", job.Key, job.State, job.Result)
		}
		// Only what was published has its licence beside it for certain.
		if result.License == "" && result.Version != "" || result.Bytes == 0 || result.Packages == 0 {
			a.t.Errorf("%s: %+v", job.Key, result)
		}
		got = append(got, job.Key)
	}
	slices.Sort(got)
	if want := slices.Sorted(slices.Values(keys)); !slices.Equal(got, want) {
		a.t.Errorf("jobs of %v, want one of each of %v", got, want)
	}
}

// checkLedger finds one success for each job, every other attempt abandoned, and
// no two of a job at one time.
func (a *audit) checkLedger(dead wireRun) {
	a.t.Helper()
	byJob := map[string][]wireRun{}
	for _, run := range a.runs("") {
		byJob[run.JobID] = append(byJob[run.JobID], run)
	}
	for id, runs := range byJob {
		slices.SortFunc(runs, func(x, y wireRun) int { return x.StartedAt.Compare(y.StartedAt) })
		for i, run := range runs {
			switch last := i == len(runs)-1; {
			case last && run.Status != "succeeded":
				a.t.Errorf("%s: the last run is %s", id, run.Status)
			case !last && (run.Status != "abandoned" || run.TerminalReason != "lease_expired"):
				a.t.Errorf("%s: run %d is %s, %s", id, i, run.Status, run.TerminalReason)
			case i > 0 && run.StartedAt.Before(runs[i-1].CompletedAt):
				a.t.Errorf("%s: run %d began before run %d had ended", id, i, i-1)
			case run.Attempt != i+1:
				a.t.Errorf("%s: run %d is attempt %d", id, i, run.Attempt)
			}
		}
	}
	if runs := byJob[dead.JobID]; len(runs) < 2 || runs[0].ID != dead.ID {
		a.t.Errorf("the killed worker's job has the runs %+v", runs)
	}
}
