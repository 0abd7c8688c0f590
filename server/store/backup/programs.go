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

// program finds pg_dump or pg_restore for a server: of its own major, else of
// the next newer one, since an older pg_dump refuses a newer server.
func program(ctx context.Context, name string, server int) (string, error) {
	best, bestMajor, newest := "", 0, 0
	for _, path := range candidates(name) {
		out, err := exec.CommandContext(ctx, path, "--version").Output()
		found := majorOf.FindSubmatch(out)
		if err != nil || found == nil {
			continue
		}
		major, _ := strconv.Atoi(string(found[1]))
		newest = max(newest, major)
		if major >= server && (best == "" || major < bestMajor) {
			best, bestMajor = path, major
		}
	}
	install := fmt.Sprintf("install the client programs of PostgreSQL %d (Debian: apt-get install postgresql-client-%d)", server, server)
	switch {
	case best != "":
		return best, nil
	case newest > 0:
		return "", fmt.Errorf("the newest %s here is of PostgreSQL %d, and the server is %d, which it refuses: %s", name, newest, server, install)
	}
	return "", fmt.Errorf("%s is not in PATH nor in /usr/lib/postgresql/*/bin: %s, or name their folder in %s", name, install, binVariable)
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
	out  io.Writer
	url  string // "" where no database is needed
}

// do runs it to its end. The password is in its environment alone, and no
// program asks for one. Its pipes end with this process, and it with them.
func (r run) do(ctx context.Context) error {
	args := r.args
	env := withoutSecrets(os.Environ())
	if r.url != "" {
		argument, password, err := schema.ForTools(r.url)
		if err != nil {
			return err
		}
		args = append([]string{"--no-password", "--dbname=" + argument}, args...)
		env = append(env, password...)
	}
	cmd := exec.CommandContext(ctx, r.path, args...)
	cmd.Env, cmd.Stdin, cmd.Stdout = env, r.in, r.out
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		if said := oneLine(stderr.String()); said != "" {
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
