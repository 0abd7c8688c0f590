package main

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTokenFileStandsBeforeThePortOpens: the port never opens, and the file is
// there.
func TestTokenFileStandsBeforeThePortOpens(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := t.TempDir()
	if out, err := serveNowhere(t, dir, nil, "--addr", taken.Addr().String(), "--admin-addr", ""); err == nil || !strings.Contains(string(out), "address already in use: choose another with --addr (STINT_ADDR)") {
		t.Fatalf("%v: %s", err, out)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "stint.db.token")); err != nil || !strings.HasPrefix(string(text), "stint_") {
		t.Errorf("%v: %q", err, text)
	}
}

func TestATakenAdminAddressNamesItsFlag(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	out, err := serveNowhere(t, t.TempDir(), []string{"STINT_ADMIN_ADDR=" + taken.Addr().String()}, "--addr", "127.0.0.1:0")
	if want := "choose another with --admin-addr (STINT_ADMIN_ADDR; empty: none)"; err == nil || !strings.Contains(string(out), want) {
		t.Fatalf("%v: %s", err, out)
	}
}

// serveNowhere runs a server whose address is taken. One that finds another is killed in the end.
func serveNowhere(t *testing.T, dir string, env []string, args ...string) (out []byte, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "stint", append([]string{"serve"}, args...)...)
	cmd.Dir, cmd.Env = dir, append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	return cmd.CombinedOutput()
}
