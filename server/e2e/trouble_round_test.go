//go:build linux

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stint-run/stint/server/apitest"
)

// round is a worker under disturbances, and a healthy one that takes over.
type round struct {
	server *process
	number int
	plan   plan
	flags  []string // more of the troubled worker's
	watch  *watch

	network   *proxy // between the troubled worker and the server
	networkMu sync.Mutex
	troubled  *working
	healthy   *working
	steps     sync.WaitGroup
	over      chan struct{}
	jobs      []string // ids
	strikes   []*strike
	away      []span // while no report could come through
	runs      map[string]ledgerRun
}

// strike is when which processes were killed or frozen.
type strike struct {
	step
	at      time.Time
	over    time.Time // of a freeze
	victims []procID
}

// span is a time; its end is zero while it lasts.
type span struct{ from, to time.Time }

const (
	troubleLease = 10 * time.Second // the shortest there is
	takeBack     = 5 * time.Second  // the server's grace after the end of a lease
	roundEnds    = 75 * time.Second // far beyond what the plan can take
	workerEnds   = 25 * time.Second // a worker that is told to stop, without its server
	allGone      = 10 * time.Second
)

func (r *round) kind() string { return fmt.Sprintf("trouble-%d", r.number) }

// run is the whole round. What goes wrong is in the faults of its watch.
func (r *round) run() {
	ctx, calm := context.WithTimeout(context.Background(), roundEnds)
	defer calm()
	if err := r.prepare(ctx); err != nil {
		r.watch.fault("prepare: %v", err)
		return
	}
	r.disturb(ctx)
	r.watch.reached("started")
	if err := r.takeOver(ctx); err != nil {
		r.watch.fault("start the healthy worker: %v", err)
	}
	r.awaitJobs(ctx)
	calm()
	r.steps.Wait()
	close(r.over)
	r.endWorkers()
	r.checkLeft()
	r.watch.close()
	r.checkRuns()
}

// prepare enqueues the jobs and starts the troubled worker.
func (r *round) prepare(ctx context.Context) error {
	const kind = `{"lease_seconds":10,"max_attempts":50,"backoff_base_seconds":1,"backoff_cap_seconds":1}`
	if _, err := r.ask(ctx, http.MethodPut, "/v1/kinds/"+r.kind(), kind); err != nil {
		return err
	}
	for i, job := range r.plan.jobs {
		key := fmt.Sprintf("%s-%d", r.kind(), i)
		if err := os.WriteFile(filepath.Join(r.watch.dir, key), []byte(job.shell), 0o600); err != nil {
			return err
		}
		a, err := r.ask(ctx, http.MethodPost, "/v1/jobs", fmt.Sprintf(`{"kind":%q,"key":%q}`, r.kind(), key))
		if err != nil {
			return err
		}
		r.jobs = append(r.jobs, a.Str("job.id"))
	}
	var err error
	r.troubled, err = r.work("troubled", "http://"+r.network.addr(), r.flags...)
	return err
}

// ask asks until there is an answer: the server may be frozen.
func (r *round) ask(ctx context.Context, method, path, body string) (apitest.Answer, error) {
	for {
		a, err := r.server.Try(ctx, method, path, body)
		switch {
		case err == nil && a.Status < 300:
			return a, nil
		case err == nil && a.Status != http.StatusServiceUnavailable:
			return a, fmt.Errorf("%s %s: %s", method, path, a)
		case ctx.Err() != nil:
			return a, ctx.Err()
		}
		<-time.After(50 * time.Millisecond)
	}
}

func (r *round) work(name, server string, flags ...string) (*working, error) {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + r.watch.dir, "TMPDIR=" + filepath.Join(r.watch.dir, "tmp"),
		"STINT_SERVER=" + server, "STINT_TOKEN=" + r.server.Token, r.mark(),
	}
	script, err := filepath.Abs("testdata/trouble/command.sh")
	if err != nil {
		return nil, err
	}
	args := []string{"work", "--kinds", r.kind(), "--concurrency", "3", "--lease", "10s", "--grace", "1s", "--worker", name}
	return startWorking(r.watch.dir, env, slices.Concat(args, flags, []string{"--", "sh", script, r.watch.dir})...)
}

// mark is in the environment of all that the round starts.
func (r *round) mark() string { return "STINT_TROUBLE=" + r.watch.dir }

// takeOver starts the healthy worker once the other one has the jobs, or seems
// to have come to nothing.
func (r *round) takeOver(ctx context.Context) (err error) {
	ctx, late := context.WithTimeout(ctx, 2*time.Second)
	defer late()
	for i := range r.jobs {
		select {
		case <-r.watch.moment(fmt.Sprintf("begin %d", i)):
		case <-ctx.Done():
		}
	}
	r.healthy, err = r.work("healthy", r.server.URL())
	return err
}

// awaitJobs waits until every job has succeeded: each of them does in the end.
func (r *round) awaitJobs(ctx context.Context) {
	for _, id := range r.jobs {
		state := ""
		for ; state != "succeeded" && ctx.Err() == nil; <-time.After(200 * time.Millisecond) {
			if a, err := r.ask(ctx, http.MethodGet, "/v1/jobs/"+id, ""); err == nil {
				state = a.Str("state")
			}
		}
		if state != "succeeded" {
			r.watch.fault("the job %s is %s after %v", id, state, roundEnds)
		}
	}
}

// endWorkers has both end, which they do for themselves if they were told to.
func (r *round) endWorkers() {
	if r.troubled.hasEnded() && !r.troubled.told.Load() && !r.troubled.cmd.ProcessState.Success() {
		r.watch.fault("the troubled worker has ended: %v", r.troubled.cmd.ProcessState)
	}
	var both sync.WaitGroup
	both.Go(func() { r.endWorker("troubled", r.troubled) })
	both.Go(func() { r.endWorker("healthy", r.healthy) })
	both.Wait()
}

func (r *round) endWorker(name string, w *working) {
	if w == nil {
		return
	}
	if !w.end(workerEnds) {
		r.watch.fault("the %s worker did not end within %v", name, workerEnds)
		_ = w.cmd.Process.Kill()
		<-w.ended
	}
	r.watch.note("the %s worker ended at %s: %v", name, w.over.Format("15:04:05.000"), w.cmd.ProcessState)
}

// readLedger reads the runs of a job, as the server has them.
func (r *round) readLedger(job string) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	a, err := r.ask(ctx, http.MethodGet, "/v1/runs?limit=200&job_id="+job, "")
	var page struct{ Data []ledgerRun }
	if err == nil {
		err = json.Unmarshal(a.Body, &page)
	}
	if err != nil {
		r.watch.fault("read the runs of %s: %v", job, err)
	}
	for _, run := range page.Data {
		r.runs[run.ID] = run
	}
}

// ledgerRun is what the server says of an attempt.
type ledgerRun struct {
	ID, Status, Worker string
	TerminalReason     string    `json:"terminal_reason"`
	CompletedAt        time.Time `json:"completed_at"`
	Error              json.RawMessage
}

// report is all that helps to understand a round that went wrong.
func (r *round) report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "jobs %v\n", r.jobs)
	for i, job := range r.plan.jobs {
		fmt.Fprintf(&b, "job %d: %s", i, job.shell)
	}
	for _, s := range r.plan.steps {
		fmt.Fprintf(&b, "%v\n", s)
	}
	var logs []string
	if r.troubled != nil {
		logs = append(logs, r.troubled.log())
	}
	if r.healthy != nil {
		logs = append(logs, strings.ReplaceAll(r.healthy.log(), "level=", "(healthy) level="))
	}
	b.WriteString(r.watch.record(logs...))
	return b.String()
}
