package schema

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// childVariable makes the test binary a process that migrates and nothing else.
const childVariable = "STINT_TEST_MIGRATE"

type childConfig struct{ URL, Files string }

func TestMain(m *testing.M) {
	if config := os.Getenv(childVariable); config != "" {
		os.Exit(child(config))
	}
	code := m.Run()
	if err := dropIdle(); err != nil {
		fmt.Fprintln(os.Stderr, "drop the databases of the tests:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// child logs to stdout, one line an event, and puts an error on stderr.
func child(raw string) int {
	var config childConfig
	if err := json.Unmarshal([]byte(raw), &config); err != nil {
		panic(err)
	}
	_, err := Migrate(context.Background(), Options{
		URL: config.URL, FS: os.DirFS(config.Files),
		Log: slog.New(slog.NewTextHandler(os.Stdout, nil)),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

type process struct {
	*exec.Cmd
	out *recorder
	err strings.Builder
}

// start runs a process that migrates; out says when its log has want.
func start(t *testing.T, url, files, want string) *process {
	t.Helper()
	p := newProcess(t, url, files, want)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

func newProcess(t *testing.T, url, files, want string) *process {
	t.Helper()
	config, err := json.Marshal(childConfig{url, files})
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.CommandContext(t.Context(), os.Args[0]), out: newRecorder(want)}
	p.Env = append(os.Environ(), childVariable+"="+string(config))
	p.Stdout, p.Stderr = p.out, &p.err
	return p
}

func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.Process.Kill(); err != nil && p.ProcessState == nil {
		t.Log(err)
	}
	_ = p.Wait()
}

func writeFiles(t *testing.T, files fstest.MapFS) string {
	t.Helper()
	dir := sharedDir(t)
	for name, file := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// sharedDir is a folder that other users may read, unlike t.TempDir.
func sharedDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "stint-schema-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
