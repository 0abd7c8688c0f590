package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/outcome"
	"github.com/stint-run/stint/cmd/stint/internal/supervise"
	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/web"
)

// TestMain puts this very binary into PATH as the command stint.
func TestMain(m *testing.M) {
	if code, ok := supervise.Main(outcome.New); ok {
		os.Exit(code)
	}
	if filepath.Base(os.Args[0]) == "stint" {
		os.Exit(run())
	}
	os.Exit(withCommand(m))
}

func withCommand(m *testing.M) int {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "stint-test-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Symlink(self, filepath.Join(dir, "stint")); err != nil {
		panic(err)
	}
	if err := os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH")); err != nil {
		panic(err)
	}
	return apitest.Main(m)
}

var engines = []string{store.SQLite, store.Postgres}

// replica is a server and an owner of it, whose admin the client is.
type replica struct {
	*apitest.Client
	t  *testing.T
	db string // its URL
}

// each runs fn on the servers of this process that tests share, each for an
// owner of its own.
func each(t *testing.T, fn func(t *testing.T, s *replica)) {
	t.Helper()
	dbtest.Engines(t, func(t *testing.T, engine string) { fn(t, of(t, apitest.Shared(t, engine))) })
}

// eachOwn runs fn on servers of this process that are the test's own.
func eachOwn(t *testing.T, fn func(t *testing.T, s *replica, stop func())) {
	t.Helper()
	dbtest.EachWith(t, dbtest.Whole, store.Config{}, func(t *testing.T, db *store.Store) {
		s := apitest.Serve(t, db)
		fn(t, of(t, s), func() {
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
		})
	})
}

func of(t *testing.T, s *apitest.Server) *replica { return &replica{Client: s.Client, t: t, db: s.URL} }

// env is the environment of every stint of the test.
func (s *replica) env() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent",
		"STINT_DB=" + s.db, "STINT_SERVER=" + s.Base(), "STINT_TOKEN=" + s.Token,
	}
}

// work starts "stint work" with a shell command.
func (s *replica) work(script string, flags ...string) *process {
	s.t.Helper()
	args := append([]string{"work", "--kinds", "audit"}, flags...)
	return spawn(s.t, s.env(), "stint", append(args, "--", "sh", "-c", script)...)
}

// serving is "stint serve" as a process on a database of its own; it keeps its
// port from one start to the next.
type serving struct {
	*replica
	*process
	addr string
}

// eachServing runs fn on a server process of each engine.
func eachServing(t *testing.T, fn func(t *testing.T, s *serving)) {
	t.Helper()
	dbtest.Engines(t, func(t *testing.T, engine string) { fn(t, serveOn(t, engine)) })
}

// serveOn starts a server and waits until it is ready.
func serveOn(t *testing.T, engine string) *serving {
	t.Helper()
	db := dbtest.Whole(t, engine)
	s := newServing(t, db, firstToken(t, db))
	s.start()
	return s
}

// newServing is a server that is not started.
func newServing(t *testing.T, db, token string) *serving {
	t.Helper()
	addr := freeAddr(t)
	client := apitest.NewClient(t, func() string { return "http://" + addr }, token)
	return &serving{replica: &replica{Client: client, t: t, db: db}, addr: addr}
}

// firstToken makes a token of the owner "default", and leaves nothing open.
func firstToken(t *testing.T, db string) string {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{URL: db, Waits: dbtest.LongWaits})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return apitest.Token(t, s, "default", web.ScopeAdmin)
}

// freeAddr draws a port that nobody listens on now.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// start starts the server, again if it was killed.
func (s *serving) start(flags ...string) {
	s.t.Helper()
	s.CloseIdle()
	args := append([]string{"serve", "--addr", s.addr, "--admin-addr", "", "--reap-every", "500ms"}, flags...)
	s.process = spawn(s.t, append(s.env(), apitest.LongWaits), "stint", args...)
	apitest.Await(s.t, "a ready server", s.Ready)
}

// wireJob is what the tests look at of a job.
type wireJob struct {
	ID, State     string
	Key           string
	Attempt       int
	MaxAttempts   int       `json:"max_attempts"`
	RunAt         time.Time `json:"run_at"`
	CreatedAt     time.Time `json:"created_at"`
	Result, Error json.RawMessage
	Progress      json.RawMessage
}

// wireRun is what the tests look at of a run.
type wireRun struct {
	ID, Status, Worker string
	Warning            *string
	JobID              string `json:"job_id"`
	Attempt            int
	TerminalReason     string    `json:"terminal_reason"`
	StartedAt          time.Time `json:"started_at"`
	CompletedAt        time.Time `json:"completed_at"`
}

// enqueue enqueues a job; members are more of its body, as in `"key":"a"`.
func (s *replica) enqueue(members ...string) string {
	s.t.Helper()
	body := strings.Join(append([]string{`{"kind":"audit"`}, members...), ",") + "}"
	return s.Must(http.StatusCreated, "/v1/jobs", body).Str("job.id")
}

func (s *replica) job(id string) (j wireJob) {
	s.t.Helper()
	s.get("/v1/jobs/"+id, &j)
	return j
}

// runs are the newest runs that a query selects.
func (s *replica) runs(query string) []wireRun {
	s.t.Helper()
	var page struct{ Data []wireRun }
	s.get("/v1/runs?limit=200&"+query, &page)
	return page.Data
}

func (s *replica) get(path string, out any) {
	s.t.Helper()
	a := s.Get(path)
	if a.Status != http.StatusOK {
		s.t.Fatalf("GET %s: %s", path, a)
	}
	a.Into(s.t, out)
}

func (s *replica) awaitState(id, state string) wireJob {
	s.t.Helper()
	apitest.Await(s.t, id+" is "+state, func() bool { return s.job(id).State == state })
	return s.job(id)
}

// process is a command that runs beside the test.
type process struct {
	cmd   *exec.Cmd
	out   *apitest.Log // both of its outputs
	ended chan struct{}
}

// spawn starts a command in a folder of its own, until the test ends.
func spawn(t *testing.T, env []string, name string, args ...string) *process {
	t.Helper()
	return spawnTo(t, nil, env, name, args...)
}

// spawnTo is spawn with a file in place of both outputs, unless it is nil.
func spawnTo(t *testing.T, out *os.File, env []string, name string, args ...string) *process {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = env
	if out != nil {
		cmd.Stdout, cmd.Stderr = out, out
	}
	return launch(t, cmd)
}

// launch is spawn of a command that is prepared; without outputs they are kept.
func launch(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd, out: &apitest.Log{}, ended: make(chan struct{})}
	if cmd.Dir == "" {
		cmd.Dir = t.TempDir()
	}
	if cmd.Stdout == nil {
		cmd.Stdout, cmd.Stderr = p.out, p.out
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%s:\n%s", cmd, p.out)
		}
	})
	return p
}

// kill is kill -9.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

func (p *process) term(t *testing.T) {
	t.Helper()
	p.signal(t, syscall.SIGTERM)
}

func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// exit waits for the end and is the exit code.
func (p *process) exit(t *testing.T) int {
	t.Helper()
	apitest.Await(t, "the end of "+p.cmd.String(), func() bool {
		select {
		case <-p.ended:
			return true
		default:
			return false
		}
	})
	return p.cmd.ProcessState.ExitCode()
}

// alive tells whether a process is there.
func alive(pid string) bool {
	state, err := os.ReadFile(fmt.Sprintf("/proc/%s/stat", pid))
	return err == nil && !strings.Contains(string(state), ") Z ")
}
