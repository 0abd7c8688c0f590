package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stint-run/stint/server/apitest"
)

// spy looks for what the file needles says in the environment, the arguments and
// the open files of every process that its user may look into, and whether it may
// read the memory of its own ancestors.
const spy = `cat >/dev/null
p=$PPID
while [ "$p" -gt 1 ]; do
	echo "ancestor $p"
	if (: <"/proc/$p/mem") 2>/dev/null; then echo "found /proc/$p/mem"; fi
	p=$(awk '/^PPid:/ { print $2 }' "/proc/$p/status")
done
for f in /proc/[0-9]*/environ /proc/[0-9]*/cmdline /proc/[0-9]*/fd/*; do
	if [ -f "$f" ] && grep -a -q -f needles "$f" 2>/dev/null; then echo "found $f"; fi
done
echo '"looked"'`

func TestACommandCannotReadTheWorkersToken(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *replica) {
		id := s.enqueue()
		u := newUnprivileged(t)
		decoy := u.spawn(t, []string{"DECOY=" + apitest.Unique("decoy")}, "sleep", "600")
		idle := u.spawn(t, s.env(), "stint", "work", "--kinds", "another", "--", "true")
		apitest.Await(t, "worker that is confined", func() bool {
			info, err := os.Stat(fmt.Sprintf("/proc/%d/environ", idle.cmd.Process.Pid))
			return err == nil && info.Sys().(*syscall.Stat_t).Uid == 0 // as of every process that cannot be dumped
		})
		needles := needle(s.Token) + "\n" + needle(strings.TrimPrefix(decoy.cmd.Env[0], "DECOY=")) + "\n"
		if err := os.WriteFile(filepath.Join(u.dir, "needles"), []byte(needles), 0o644); err != nil {
			t.Fatal(err)
		}
		w := u.spawn(t, s.env(), "stint", "work", "--kinds", "audit", "--max-jobs", "1", "--", "sh", "-c", spy)
		if code := w.exit(t); code != 0 {
			t.Fatalf("exit %d", code)
		}
		out := w.out.String()
		if job := s.job(id); string(job.Result) != `"looked"` || !strings.Contains(out, fmt.Sprintf("ancestor %d\n", w.cmd.Process.Pid)) {
			t.Fatalf("the spy did not look: the job is %s with %s", job.State, job.Result)
		}
		if !strings.Contains(out, fmt.Sprintf("found /proc/%d/environ\n", decoy.cmd.Process.Pid)) {
			t.Errorf("the spy does not find what it can read")
		}
		if n := strings.Count(out, "found "); n != 1 {
			t.Errorf("the command could read the token: %d places, with one of another process", n)
		}
	})
}

// needle is a pattern that matches the text and not itself.
func needle(text string) string { return text[:4] + "[" + text[4:5] + "]" + text[5:] }

// unprivileged is a user without capabilities: nobody, or whoever runs the tests
// if that is not root.
type unprivileged struct {
	dir        string // of its own
	credential *syscall.Credential
}

func newUnprivileged(t *testing.T) *unprivileged {
	t.Helper()
	dir, err := os.MkdirTemp("", "stint-unprivileged-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	u := &unprivileged{dir: dir}
	if os.Geteuid() == 0 {
		const nobody = 65534
		u.credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	return u
}

// spawn is spawn as that user, in its folder. Its own name stands for this very
// binary, whose folder the user need not be able to enter.
func (u *unprivileged) spawn(t *testing.T, env []string, name string, args ...string) *process {
	t.Helper()
	cmd := exec.Command(name, args...)
	if name == "stint" {
		cmd.Path = "/proc/self/exe"
	}
	cmd.Dir, cmd.Env = u.dir, env
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: u.credential}
	return launch(t, cmd)
}
