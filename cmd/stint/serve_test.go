package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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
	cmd := exec.Command("stint", "serve", "--addr", taken.Addr().String(), "--admin-addr", "")
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH")}
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "address already in use: choose another with --addr (STINT_ADDR)") {
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
	cmd := exec.Command("stint", "serve", "--addr", "127.0.0.1:0")
	cmd.Dir, cmd.Env = t.TempDir(), []string{"PATH=" + os.Getenv("PATH"), "STINT_ADMIN_ADDR=" + taken.Addr().String()}
	out, err := cmd.CombinedOutput()
	if want := "choose another with --admin-addr (STINT_ADMIN_ADDR; empty: none)"; err == nil || !strings.Contains(string(out), want) {
		t.Fatalf("%v: %s", err, out)
	}
}
