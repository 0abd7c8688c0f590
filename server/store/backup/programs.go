package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/stint-run/stint/schema"
)

// binVariable names the one folder to look for PostgreSQL's programs in.
const binVariable = "STINT_POSTGRES_BIN"

var majorOf = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// tool is pg_dump or pg_restore as it was found.
type tool struct {
	path   string
	major  int
	server int
}

// program finds pg_dump or pg_restore for a server: of its own major, else of
// the next newer one, since an older pg_dump refuses a newer server.
func program(ctx context.Context, name string, server int) (best tool, err error) {
	newest := 0
	for _, path := range candidates(name) {
		out, err := exec.CommandContext(ctx, path, "--version").Output()
		found := majorOf.FindSubmatch(out)
		if err != nil || found == nil {
			continue
		}
		major, _ := strconv.Atoi(string(found[1]))
		newest = max(newest, major)
		if major >= server && (best.path == "" || major < best.major) {
			best = tool{path, major, server}
		}
	}
	switch {
	case best.path != "":
		return best, nil
	case newest > 0:
		return best, fmt.Errorf("the newest %s here is of PostgreSQL %d, and the server is %d, which it refuses: %s", name, newest, server, install(server))
	}
	return best, fmt.Errorf("%s is not in PATH nor in /usr/lib/postgresql/*/bin: %s, or name their folder in %s", name, install(server), binVariable)
}

func install(major int) string {
	return fmt.Sprintf("install the client programs of PostgreSQL %d (Debian: apt-get install postgresql-client-%d)", major, major)
}

// explain says what it means that pg_restore cannot read an archive at all.
func (t tool) explain(err error) error {
	if err != nil && strings.Contains(err.Error(), "unsupported version (") {
		return fmt.Errorf("a pg_dump of a PostgreSQL newer than %d wrote it, and pg_restore here is of %d: install newer client programs, or name their folder in %s", t.major, t.major, binVariable)
	}
	return err
}

// note tells of a pg_dump that is not of the server's major.
func (t tool) note(r *Report) {
	if t.major != t.server {
		r.warn("pg_dump is of PostgreSQL %d and the server of %d: a pg_restore older than %d may not read the backup; %s", t.major, t.server, t.major, install(t.server))
	}
}

func candidates(name string) (paths []string) {
	if dir := os.Getenv(binVariable); dir != "" {
		return []string{filepath.Join(dir, name)}
	}
	// Debian's folders first: what it has in PATH is a wrapper that chooses by itself.
	paths, _ = filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if path, err := exec.LookPath(name); err == nil {
		paths = append(paths, path)
	}
	return paths
}

// run is one run of a program.
type run struct {
	path string
	args []string
	in   io.Reader
	url  string // "" where no database is needed
}

// to runs it to its end.
func (r run) to(ctx context.Context, out io.Writer) error {
	cmd, err := r.command(ctx)
	if err != nil {
		return err
	}
	cmd.Stdout = out
	return r.ended(ctx, cmd, cmd.Run())
}

// start lets it run; wait is called when all of out was read, or ctx has ended.
func (r run) start(ctx context.Context) (out io.Reader, wait func() error, err error) {
	cmd, err := r.command(ctx)
	if err != nil {
		return nil, nil, err
	}
	if out, err = cmd.StdoutPipe(); err != nil {
		return nil, nil, err
	}
	return out, func() error { return r.ended(ctx, cmd, cmd.Wait()) }, cmd.Start()
}

// command is the program with its arguments. The password is in its environment
// alone, and no program asks for one. Its pipes end with this process, and it
// with them.
func (r run) command(ctx context.Context) (*exec.Cmd, error) {
	args := r.args
	env := withoutSecrets(os.Environ())
	if r.url != "" {
		argument, password, err := schema.ForTools(r.url)
		if err != nil {
			return nil, err
		}
		args = append([]string{"--no-password", "--dbname=" + argument}, args...)
		env = append(env, password...)
	}
	cmd := exec.CommandContext(ctx, r.path, args...)
	cmd.Env, cmd.Stdin, cmd.Stderr = env, r.in, new(bytes.Buffer)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	return cmd, nil
}

// ended is how a program ended, in its own words if it has any.
func (r run) ended(ctx context.Context, cmd *exec.Cmd, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		if said := oneLine(fmt.Sprint(cmd.Stderr)); said != "" {
			return errors.New(said)
		}
		return fmt.Errorf("%s: %s", filepath.Base(r.path), ended)
	}
	return err
}

// withoutSecrets leaves out what a child needs not know, and makes it speak
// plainly.
func withoutSecrets(environ []string) (env []string) {
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "STINT_") && name != "DATABASE_URL" {
			env = append(env, pair)
		}
	}
	return append(env, "LC_ALL=C", "PGAPPNAME=stint backup")
}

// maxSaid bounds what is repeated of a program's complaint, in bytes.
const maxSaid = 500

func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return text[:min(len(text), maxSaid)]
}
