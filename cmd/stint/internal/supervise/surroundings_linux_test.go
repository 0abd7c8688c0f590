package supervise

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// A worker at a terminal runs commands that cannot ask there.
func TestACommandHasNoTerminal(t *testing.T) {
	t.Parallel()
	a := newApart(t, `cut -d ' ' -f 1,6,7 /proc/$$/stat; (: </dev/tty) 2>&1; :`)
	controller, terminal := openTerminal(t)
	defer controller.Close()
	a.cmd.ExtraFiles = []*os.File{terminal}
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	a.start()
	_, got := a.settle()
	want := fmt.Sprintf("%[1]d %[1]d 0\n", a.command) // it leads its session, which has terminal 0: none
	if !strings.HasPrefix(got, want) || !strings.Contains(got, "cannot open /dev/tty") {
		t.Errorf("the command says %q", got)
	}
}

// Nor does it get what is meant for the worker's group or session.
func TestASupervisorHasASessionOfItsOwn(t *testing.T) {
	t.Parallel()
	a := startApart(t, "sleep 1000")
	if p, ok := processOf(a.supervisor); !ok || p.session != a.supervisor || p.group != a.supervisor {
		t.Errorf("the supervisor %d is %+v", a.supervisor, p)
	}
}

func TestASupervisorEndsByNoSignalThatCanBeCaught(t *testing.T) {
	t.Parallel()
	a := startApart(t, `while ! [ -e "$1/go" ]; do sleep 0.01; done`)
	for _, s := range []syscall.Signal{
		syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGTSTP, syscall.SIGPIPE, 40,
	} {
		a.signal(a.supervisor, s)
	}
	a.make("go")
	if end, _ := a.settle(); end.Alone || !end.Known || end.Status != 0 {
		t.Errorf("ended as %+v", end)
	}
}

// openTerminal is a pair of a new pseudo-terminal.
func openTerminal(t *testing.T) (controller, terminal *os.File) {
	t.Helper()
	controller, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(controller.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return controller, terminal
}

// The worker ignores some signals, and was itself started with others ignored or
// blocked.
func TestACommandStartsWithDefaultSignals(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		trap    string
		ignored uint64
	}{
		"nohup":      {`trap "" HUP INT QUIT USR1`, 1},
		"background": {`trap "" INT QUIT`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newApart(t, "")
			a.job.Path, a.job.Args = "/bin/cat", []string{"cat", "/proc/self/status"}
			a.cmd.Path = "/usr/bin/env"
			a.cmd.Args = []string{"env", "--block-signal=TERM,USR2", "sh", "-c", tt.trap + `; exec "$0"`, a.image()}
			a.start()
			_, got := a.settle()
			want := map[string]uint64{"SigIgn": tt.ignored, "SigBlk": 0, "SigCgt": 0}
			if diff := cmp.Diff(want, signalsOf(t, got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// signalsOf are the signals that a process ignores, blocks and catches, without 32
// and 33: they belong to the C library, which leaves them ignored in what it spawns,
// make's commands too.
func signalsOf(t *testing.T, status string) map[string]uint64 {
	t.Helper()
	const libraries = 3 << 31
	sets := map[string]uint64{}
	for line := range strings.Lines(status) {
		name, text, _ := strings.Cut(line, ":")
		if name != "SigIgn" && name != "SigBlk" && name != "SigCgt" {
			continue
		}
		set, err := strconv.ParseUint(strings.TrimSpace(text), 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		sets[name] = set &^ libraries
	}
	return sets
}

// image is the test's program for a shell.
func (a *apart) image() string {
	path, err := os.Executable()
	if err != nil {
		a.t.Fatal(err)
	}
	return path
}

func TestACommandInheritsNoFiles(t *testing.T) {
	t.Parallel()
	a := newApart(t, `ls /proc/$$/fd; :`)
	lock, err := os.Create(a.path("lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	a.cmd.ExtraFiles = []*os.File{lock, lock, lock} // as "flock" has its child inherit one
	a.start()
	a.awaitEnd()
	if files := a.filesOf(a.supervisor); strings.Contains(files, "/lock") {
		t.Errorf("the supervisor holds %s", files)
	}
	if _, got := a.settle(); got != "0\n1\n2\n" {
		t.Errorf("it has %q", got)
	}
}

// filesOf is what a process has open.
func (a *apart) filesOf(pid int) string {
	a.t.Helper()
	out, err := exec.Command("ls", "-l", "/proc/"+strconv.Itoa(pid)+"/fd").Output()
	if err != nil {
		a.t.Fatal(err)
	}
	return string(out)
}

// A command without privileges, of the worker's own user, reads neither the
// worker's nor the supervisor's memory and environment.
func TestACommandCannotReadCredentials(t *testing.T) {
	t.Parallel()
	a := newApart(t, `supervisor=$PPID
worker=$(cut -d ' ' -f 4 /proc/$PPID/stat)
for p in $$ $supervisor $worker; do
	for f in environ mem maps; do
		(: </proc/$p/$f) 2>/dev/null && echo "$f of $p"
	done
	ls -l /proc/$p/fd/0 >/dev/null 2>&1 && echo "fd of $p"
done
id -u`)
	a.cmd.Env = append(a.cmd.Env, "STINT_TOKEN=secret")
	if os.Getuid() == 0 {
		a.asNobody()
	}
	a.start()
	end, got := a.settle()
	own := strconv.Itoa(a.command)
	want := []string{"environ of " + own, "mem of " + own, "maps of " + own, "fd of " + own}
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if !strings.Contains(string(end.Report), " dumpable false ") {
		t.Errorf("the supervisor could be opened while it started")
	}
	if len(lines) != 5 || strings.Join(lines[:4], " ") != strings.Join(want, " ") || lines[4] == "0" {
		t.Errorf("it reads %q; %+v", lines, end)
	}
}

// Root may lack CAP_SYS_PTRACE, as in containers, and still read every file.
func TestASupervisorOfRootIsHiddenFromItsFirstInstruction(t *testing.T) {
	t.Parallel()
	own, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	c, stdout, _ := started(t, shell("grep ^Cap /proc/self/status"))
	end := c.End()
	if !strings.Contains(string(end.Report), " dumpable false ") {
		t.Errorf("it could be opened while it started")
	}
	if got := stdout.String(); !strings.Contains(string(own), "\n"+got) || strings.Count(got, "Cap") != 5 {
		t.Errorf("the command has the capabilities\n%sthis process has\n%s", got, own)
	}
}

// asNobody has the worker run as a user without privileges.
func (a *apart) asNobody() {
	a.t.Helper()
	a.asUser(65534)
}

func (a *apart) asUser(id int) {
	a.t.Helper()
	if err := os.Chmod(filepath.Dir(a.dir), 0o711); err != nil {
		a.t.Fatal(err)
	}
	if err := os.Chown(a.dir, id, id); err != nil {
		a.t.Fatal(err)
	}
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(id), Gid: uint32(id)}}
}
