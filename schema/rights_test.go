package schema

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestWithoutRightsTheErrorIsOneClearLine(t *testing.T) {
	t.Parallel()
	t.Run(SQLite, func(t *testing.T) {
		t.Parallel()
		dir := sharedDir(t)
		db := database{engine: SQLite, url: "sqlite:" + dir + "/stint.db"}
		db.migrate(t, one)
		p := newProcess(t, db.url, writeFiles(t, fixture(one, two)), "")
		asReader(t, p, dir)
		wantNoRights(t, p)
	})
	t.Run(Postgres, func(t *testing.T) {
		t.Parallel()
		role := newRole(t)
		db := createdDatabase(t)
		db.migrate(t, one)
		db.exec(t, "grant select on all tables in schema public to "+role)
		db.exec(t, "revoke create on schema public from public")
		files := writeFiles(t, fixture(one, two))
		wantNoRights(t, newProcess(t, withUser(db.url, role+":"+rolePasswordInURL), files, ""))
	})
}

func wantNoRights(t *testing.T, p *process) {
	t.Helper()
	err := p.Run()
	text := strings.TrimSuffix(p.err.String(), "\n")
	if err == nil || strings.Contains(text, "\n") || !strings.Contains(text, "no right to do this") {
		t.Errorf("%v: %q", err, text)
	}
	if strings.Contains(text+p.out.String(), "s3cret") {
		t.Errorf("the password is shown: %s %s", text, p.out)
	}
}

const (
	rolePassword      = "s3cret@:/%"
	rolePasswordInURL = "s3cret%40%3A%2F%25"
)

// newRole may connect, and nothing else. Ask for it before the database that
// it gets rights in: the database must be dropped first.
func newRole(t *testing.T) string {
	t.Helper()
	role := fmt.Sprintf("stint_reader_%d_%d", os.Getpid(), time.Now().UnixNano())
	admin(t, "create role "+role+" login password '"+rolePassword+"'")
	t.Cleanup(func() { admin(t, "drop role "+role) })
	return role
}

func withUser(url, user string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	return scheme + "://" + user + "@" + rest
}

// asReader lets p read dir and not write it. The superuser writes everywhere,
// so p becomes another user then, with a copy of the test binary.
func asReader(t *testing.T, p *process, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.Chmod(filepath.Join(dir, e.Name()), 0o444); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	if os.Geteuid() == 0 {
		p.Path = copyBinary(t)
		p.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
}

func copyBinary(t *testing.T) string {
	t.Helper()
	from, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	path := filepath.Join(sharedDir(t), "child")
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(to, bufio.NewReader(from))
	if err != nil || to.Close() != nil {
		t.Fatal("copy the test binary: ", err)
	}
	return path
}
