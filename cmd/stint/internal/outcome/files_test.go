package outcome

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A command may replace its files by anything: that is told, never waited for, and
// leads to no other file.
func TestAFileThatIsNoneIsNotRead(t *testing.T) {
	t.Parallel()
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte(`"secret"`), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]func(path string) error{
		"fifo":      func(path string) error { return unix.Mkfifo(path, 0o600) },
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"link":      func(path string) error { return os.Symlink(other, path) },
		"device":    func(path string) error { return os.Symlink("/dev/zero", path) },
		"socket": func(path string) error {
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return unix.Bind(fd, &unix.SockaddrUnix{Name: path})
		},
	}
	for name, put := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := makeFiles(t, nil)
			for _, file := range []string{resultFile, outcomeFile, progressFile} {
				if err := os.Remove(f.path(file)); err != nil {
					t.Fatal(err)
				}
				if err := put(f.path(file)); err != nil {
					t.Fatal(err)
				}
			}
			if text, warning := f.result(outputs{result: []byte("1")}); text != nil || warning != "STINT_RESULT is not a regular file; the result is null" {
				t.Errorf("result %s, %q", text, warning)
			}
			if _, err := f.declared(); err != errNoFile {
				t.Errorf("outcome: %v", err)
			}
			if text, warning := f.Progress().Next(); text != nil || warning != "STINT_PROGRESS is not a regular file; it is left out" {
				t.Errorf("progress %s, %q", text, warning)
			}
		})
	}
}

func TestAFileThatIsGoneSaysNothing(t *testing.T) {
	t.Parallel()
	f := makeFiles(t, nil)
	f.Remove()
	if text, warning := f.result(outputs{result: []byte("1")}); string(text) != "1" || warning != "" {
		t.Errorf("result %s, %q", text, warning)
	}
	if told, err := f.declared(); told != nil || err != nil {
		t.Errorf("outcome %v, %v", told, err)
	}
	if text, warning := f.Progress().Next(); text != nil || warning != "" {
		t.Errorf("progress %s, %q", text, warning)
	}
}

func TestNobodyElseEntersTheFolder(t *testing.T) {
	t.Parallel()
	f := makeFiles(t, nil)
	info, err := os.Stat(f.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o700 {
		t.Errorf("mode %s", info.Mode())
	}
	for _, pair := range f.Env() {
		if _, path, _ := strings.Cut(pair, "="); filepath.Dir(path) != f.Dir {
			t.Errorf("%s", pair)
		}
	}
}

func TestProgressGoesOutOnceForEachContent(t *testing.T) {
	t.Parallel()
	f := makeFiles(t, nil)
	p := f.Progress()
	steps := []struct{ text, want, warning string }{
		{"", "", ""},
		{"{\"a\":1}\n", `{"a":1}`, ""},
		{"{\"a\":1}\n\n", `{"a":1}`, ""}, // no heartbeat has brought it yet
		{"settle", "", ""},
		{`{"a":`, "", `STINT_PROGRESS is not JSON: "{\"a\":"; it is left out`},
		{`{"a":`, "", ""},
		{`{"a":2}`, `{"a":2}`, ""},
		{`"` + strings.Repeat("x", maxProgress-2) + `"`, `"` + strings.Repeat("x", maxProgress-2) + `"`, ""},
		{`"` + strings.Repeat("x", maxProgress-1) + `"`, "", "STINT_PROGRESS is larger than 16 KiB; it is left out"},
		{`"` + strings.Repeat("x", 1<<20) + `"`, "", ""},
		{"\"\xff\"", "", `STINT_PROGRESS is not UTF-8: "\"\xff\""; it is left out`},
		{"", "", ""},
	}
	last := ""
	for _, step := range steps {
		if step.text == "settle" {
			p.Settle([]byte(last))
		} else {
			write(t, f, progressFile, step.text)
		}
		text, warning := p.Next()
		if string(text) != step.want || warning != step.warning {
			t.Errorf("%.40q: got %.40q, %q", step.text, text, warning)
		}
		last = string(text)
	}
}

// TMPDIR may be told from the worker's folder, which a command may leave.
func TestFilesAreNamedForEveryFolder(t *testing.T) {
	t.Setenv("TMPDIR", "here")
	for _, pair := range NameFiles().Env() {
		if name, path, _ := strings.Cut(pair, "="); !filepath.IsAbs(path) || filepath.Base(filepath.Dir(filepath.Dir(path))) != "here" {
			t.Errorf("%s is %s", name, path)
		}
	}
}
