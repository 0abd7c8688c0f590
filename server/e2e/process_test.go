package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/web"
)

func TestMain(m *testing.M) {
	code := apitest.Main(m)
	if dir, err := binDir(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// binary is the program as it is released: without cgo. A build that is there
// already is tested instead if STINT_TEST_BINARY names it.
var binary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("STINT_TEST_BINARY"); path != "" {
		return filepath.Abs(path)
	}
	return build("stint")
})

// nextBinary is the program of a release that knows one migration more.
var nextBinary = sync.OnceValues(func() (string, error) { return build("stint-next", "-tags", "nextmigration") })

var binDir = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "stint-e2e-") })

func build(name string, flags ...string) (string, error) {
	dir, err := binDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	build := exec.Command("go", slices.Concat([]string{"build"}, flags, []string{"-o", path, "./cmd/stint"})...)
	build.Dir = "../.."
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build stint: %w\n%s", err, out)
	}
	return path, nil
}

// process is `stint serve` on a database. Its client follows it from one start
// to the next, since every start draws a new port.
type process struct {
	*apitest.Client
	t     *testing.T
	build func() (string, error) // binary, or that of another release
	url   string                 // of the database; "" leaves it to env
	store *store.Store
	db    *beside
	env   []string
	dir   string // to start in; "" is a new one
	flags []string
	log   *apitest.Log // of all its starts

	mu    sync.Mutex
	cmd   *exec.Cmd
	ended chan struct{}
	began int    // where the log of this start begins
	at    string // where it listens, once the log tells
}

// start runs the server on an empty migrated database until the test ends; the
// client holds an admin token of the owner "ada".
func start(t *testing.T, engine string, flags ...string) *process {
	t.Helper()
	return startOn(t, dbtest.Open(t, store.Config{URL: dbtest.Whole(t, engine)}), flags...)
}

// startOn runs the server on the database that the test has open as s.
func startOn(t *testing.T, s *store.Store, flags ...string) *process {
	t.Helper()
	p := newProcess(t, dbtest.URLOf(t, s), flags...)
	p.store, p.db = s, lookBeside(t, dbtest.URLOf(t, s))
	p.Token = apitest.Token(t, s, "ada", web.ScopeAdmin)
	p.launch()
	p.awaitReady()
	return p
}

// newProcess is a server that has not been started.
func newProcess(t *testing.T, url string, flags ...string) *process {
	p := &process{t: t, build: binary, url: url, flags: flags, log: &apitest.Log{}}
	p.Client = apitest.NewClient(t, p.URL, "")
	t.Cleanup(func() {
		p.kill9()
		apitest.CheckLog(t, p.log.String())
	})
	return p
}

// launch starts the process, and returns at once.
func (p *process) launch() {
	p.t.Helper()
	path, err := p.build()
	if err != nil {
		p.t.Fatal(err)
	}
	args := append([]string{"serve", "--addr", "127.0.0.1:0", "--admin-addr", ""}, p.flags...)
	if p.url != "" {
		args = append(args, "--db", p.url)
	}
	cmd := exec.Command(path, args...)
	if cmd.Dir = p.dir; cmd.Dir == "" {
		cmd.Dir = p.t.TempDir()
	}
	cmd.Env = append([]string{"HOME=" + cmd.Dir, "PATH=" + os.Getenv("PATH"), apitest.LongWaits}, p.env...)
	cmd.Stdout, cmd.Stderr = p.log, p.log
	ended, began := make(chan struct{}), len(p.log.String())
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() {
		_ = cmd.Wait() // exit reads the state
		close(ended)
	}()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cmd, p.ended, p.began, p.at = cmd, ended, began, ""
}

var addresses = regexp.MustCompile(`api=(http://[0-9.:]+)`)

// URL is where the present start listens; a closed port while it does not yet.
func (p *process) URL() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at != "" {
		return p.at
	}
	if hit := addresses.FindStringSubmatch(p.log.String()[p.began:]); hit != nil {
		p.at = hit[1]
		return p.at
	}
	return "http://127.0.0.1:1"
}

// present is the present start: a timer may kill it while a test starts the
// next one.
func (p *process) present() (cmd *exec.Cmd, ended <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd, p.ended
}

// kill9 ends the process with no chance to clean up.
func (p *process) kill9() {
	cmd, ended := p.present()
	if cmd == nil {
		return
	}
	_ = cmd.Process.Kill() // it may have ended
	<-ended
}

// restart starts the process again, and waits until it is ready.
func (p *process) restart() {
	p.t.Helper()
	p.CloseIdle()
	p.launch()
	p.awaitReady()
}

// awaitReady waits until the process serves; one that ended never will.
func (p *process) awaitReady() {
	p.t.Helper()
	_, ended := p.present()
	apitest.Await(p.t, "ready", func() bool {
		select {
		case <-ended:
			p.t.Fatalf("the server ended:\n%s", p.log)
		default:
		}
		return p.Ready()
	})
}

func (p *process) signal(sig os.Signal) {
	p.t.Helper()
	cmd, _ := p.present()
	if err := cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Error(err)
	}
}

// exit waits for the process to end by itself, and returns its exit code.
func (p *process) exit(within time.Duration) int {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	cmd, ended := p.present()
	if p.hasEnded() {
		return cmd.ProcessState.ExitCode()
	}
	select {
	case <-ended:
	case <-ctx.Done():
		p.t.Fatalf("the server did not end within %v", within)
	}
	return cmd.ProcessState.ExitCode()
}

func (p *process) hasEnded() bool {
	_, ended := p.present()
	select {
	case <-ended:
		return true
	default:
		return false
	}
}

// command runs the program with arguments, away from anybody's settings.
func command(t *testing.T, args ...string) (out string, code int) {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"HOME=" + cmd.Dir, "PATH=" + os.Getenv("PATH")}
	text, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// eachProcess runs fn against a server process on both engines.
func eachProcess(t *testing.T, fn func(t *testing.T, p *process)) {
	t.Helper()
	dbtest.Engines(t, func(t *testing.T, engine string) { fn(t, start(t, engine)) })
}

// eachOnFresh is eachProcess on databases whose schema or settings fn changes.
func eachOnFresh(t *testing.T, fn func(t *testing.T, p *process)) {
	t.Helper()
	dbtest.Engines(t, func(t *testing.T, engine string) {
		fn(t, startOn(t, dbtest.Open(t, store.Config{URL: dbtest.Fresh(t, engine)})))
	})
}
