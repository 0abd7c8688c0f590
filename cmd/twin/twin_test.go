package main

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The gen folders under testdata are what the pinned sqlc really writes.
//go:generate sh testdata/record.sh

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// copyCase copies the raw output and the queries of a case, so that a run may
// change them.
func copyCase(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	for _, sub := range []string{"gen", "queries"} {
		if err := os.CopyFS(filepath.Join(dir, sub), os.DirFS(filepath.Join("testdata", name, sub))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func runIn(dir string) (code int, stderr string) {
	var out bytes.Buffer
	code = run([]string{"-gen", filepath.Join(dir, "gen"), "-queries", filepath.Join(dir, "queries")}, &out)
	return code, out.String()
}

// files are the texts under dir by their path in it.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		all[strings.TrimSuffix(path, ".golden")] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestTwinsShareTheirStructs compares all that a good run writes with
// testdata/good/want.
func TestTwinsShareTheirStructs(t *testing.T) {
	t.Parallel()
	dir := copyCase(t, "good")
	if code, stderr := runIn(dir); code != 0 || stderr != "" {
		t.Fatalf("exit code %d, stderr:\n%s", code, stderr)
	}
	got := files(t, filepath.Join(dir, "gen"))
	want := filepath.Join("testdata", "good", "want")
	if *update {
		if err := os.RemoveAll(want); err != nil {
			t.Fatal(err)
		}
		for name, text := range got {
			writeFile(t, filepath.Join(want, name+".golden"), text)
		}
	}
	if diff := cmp.Diff(files(t, want), got); diff != "" {
		t.Error(diff)
	}
}

// TestOutputCompiles builds a good run's output, with its assertions that
// *Queries of both engines is a model.Querier.
func TestOutputCompiles(t *testing.T) {
	t.Parallel()
	dir := copyCase(t, "good")
	if code, stderr := runIn(dir); code != 0 {
		t.Fatal(stderr)
	}
	root := filepath.Join("..", "..")
	for _, name := range []string{"go.mod", "go.sum"} {
		writeFile(t, filepath.Join(dir, name), readFile(t, filepath.Join(root, name)))
	}
	coltype := filepath.Join("schema", "coltype")
	if err := os.CopyFS(filepath.Join(dir, coltype), os.DirFS(filepath.Join(root, coltype))); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "./gen/...")
	build.Dir = dir
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestRunsOverTheSameOutputAreEqual(t *testing.T) {
	t.Parallel()
	first, second := copyCase(t, "good"), copyCase(t, "good")
	stale := filepath.Join(second, "gen", "model", "gone.sql.go")
	writeFile(t, stale, "package model\n\ntype Gone struct{}\n")
	for _, dir := range []string{first, second} {
		writeFile(t, filepath.Join(dir, "gen", "openapi.json"), "{}")
		writeFile(t, filepath.Join(dir, "gen", "client", "client.go"), "package client\n")
		if code, stderr := runIn(dir); code != 0 {
			t.Fatal(stderr)
		}
	}
	got := files(t, filepath.Join(second, "gen"))
	if diff := cmp.Diff(files(t, filepath.Join(first, "gen")), got); diff != "" {
		t.Error(diff)
	}
	if got["openapi.json"] != "{}" || got["client/client.go"] != "package client\n" {
		t.Error("a file outside of postgres, sqlite and model changed")
	}
}

func TestRewrittenAccessorsAreNotReadAgain(t *testing.T) {
	t.Parallel()
	dir := copyCase(t, "good")
	if code, stderr := runIn(dir); code != 0 {
		t.Fatal(stderr)
	}
	before := files(t, dir)
	code, stderr := runIn(dir)
	if code != 1 || !strings.Contains(stderr, "run sqlc generate first") {
		t.Errorf("exit code %d, stderr:\n%s", code, stderr)
	}
	if diff := cmp.Diff(before, files(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestMissingAccessorsAreNamed(t *testing.T) {
	t.Parallel()
	dir := copyCase(t, "good")
	if err := os.RemoveAll(filepath.Join(dir, "gen", "sqlite")); err != nil {
		t.Fatal(err)
	}
	if code, stderr := runIn(dir); code != 1 || !strings.Contains(stderr, "sqlite holds no Go files") {
		t.Errorf("exit code %d, stderr:\n%s", code, stderr)
	}
}

func TestUnknownFlagIsRefused(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	if code := run([]string{"-nope"}, &stderr); code != 2 {
		t.Errorf("exit code %d, stderr:\n%s", code, &stderr)
	}
}
