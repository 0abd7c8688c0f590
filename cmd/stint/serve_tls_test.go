package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	number "math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/server/apitest"
)

// certificate writes cert.pem and key.pem of 127.0.0.1 into dir; the certificate
// is its own authority.
func certificate(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: number.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

func TestTheCommandLineSpeaksHTTPSToAServerOfAPrivateAuthority(t *testing.T) {
	t.Parallel()
	dir, addr := t.TempDir(), freeAddr(t)
	cert, key := certificate(t, dir)
	env := []string{"PATH=" + os.Getenv("PATH"), "STINT_DB=sqlite:" + filepath.Join(dir, "stint.db"), "STINT_SERVER=https://" + addr}
	spawn(t, env, "stint", "serve", "--addr", addr, "--admin-addr", "", "--tls-cert", cert, "--tls-key", key)
	stint := func(with []string, args ...string) (string, int) {
		cmd := exec.Command("stint", args...)
		cmd.Env = slices.Concat(env, []string{"STINT_TOKEN_FILE=" + filepath.Join(dir, "stint.db.token")}, with)
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	trust := []string{"STINT_CA_FILE=" + cert}
	apitest.Await(t, "a ready server", func() bool {
		_, code := stint(trust, "healthcheck")
		return code == 0
	})
	if out, code := stint(trust, "kind", "list", "-o", "json"); code != 0 || !strings.Contains(out, `"review"`) {
		t.Errorf("%d: %s", code, out)
	}
	if out, code := stint(nil, "healthcheck"); code != exitFailed || !strings.Contains(out, "certificate") {
		t.Errorf("an unknown authority: %d: %s", code, out)
	}
	if out, code := stint(nil, "kind", "list"); code != exitFailed || !strings.Contains(out, "--ca-file (STINT_CA_FILE)") {
		t.Errorf("a list, from an unknown authority: %d: %s", code, out)
	}
	another := "https://localhost" + strings.TrimPrefix(addr, "127.0.0.1")
	for _, command := range []string{"kind list", "doctor -o table"} {
		out, code := stint(trust, append(strings.Fields(command), "--server", another)...)
		if code != exitFailed || !strings.Contains(out, "certificate is ") || strings.Contains(out, "--ca-file") {
			t.Errorf("%s of another name: %d: %s", command, code, out)
		}
	}
	if out, code := stint(nil, "doctor", "--ca-file", cert, "-o", "table"); code != 0 || !strings.Contains(out, "https://"+addr+" is ready") {
		t.Errorf("doctor with the authority: %d: %s", code, out)
	}
	if out, code := stint(nil, "doctor", "-o", "table"); code != exitFailed || !strings.Contains(out, "certificate signed by unknown authority") || !strings.Contains(out, "→ "+api.NameAuthority) {
		t.Errorf("doctor without the authority: %d: %s", code, out)
	}
	if out, code := stint([]string{"STINT_CA_FILE=" + key}, "kind", "list"); code != exitUsage || !strings.Contains(out, "no PEM certificate") {
		t.Errorf("a key as authority: %d: %s", code, out)
	}
	g := &globals{caFile: cert}
	roots, err := g.roots()
	if err != nil {
		t.Fatal(err)
	}
	transport := api.Transport(roots)
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Get("https://" + addr + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.Proto != "HTTP/2.0" || resp.StatusCode != http.StatusOK {
		t.Errorf("%s %d", resp.Proto, resp.StatusCode)
	}
}

func TestServeRefusesHalfATLSAndWhatIsNoProxy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := certificate(t, dir)
	for want, flags := range map[string][]string{
		"--tls-cert needs --tls-key": {"--tls-cert", cert},
		"--tls-key needs --tls-cert": {"--tls-key", key},
		"read the certificate":       {"--tls-cert", cert, "--tls-key", cert},
		"not \"proxy.example\"":      {"--trusted-proxy", "127.0.0.1,proxy.example"},
		"no such file or directory":  {"--tls-cert", filepath.Join(dir, "none"), "--tls-key", key},
		"--tls-cert is empty":        {"--tls-key", key, "--tls-cert", ""},
	} {
		cmd := exec.Command("stint", append([]string{"serve", "--addr", "127.0.0.1:0", "--admin-addr", ""}, flags...)...)
		cmd.Dir, cmd.Env = t.TempDir(), []string{"PATH=" + os.Getenv("PATH")}
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != exitUsage || !strings.Contains(string(out), want) {
			t.Errorf("%q: %d: %s", flags, code, out)
		}
		if left, _ := filepath.Glob(filepath.Join(cmd.Dir, "*")); len(left) > 0 {
			t.Errorf("%q: made %q", flags, left)
		}
	}
}
