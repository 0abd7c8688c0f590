package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/server/apitest"
)

// The way in that docs/operations.md tells: certificates and nothing else, and
// a map from their names to the role.
const (
	certHBA   = "local all postgres trust\nhostssl stint stint 127.0.0.1/32 cert map=stint\n"
	certIdent = "stint  stint-server  stint\nstint  /^(.*)@replicas$  stint\n"
)

// certCluster is a running PostgreSQL that lets the role stint in by a
// certificate of ca whose name the map knows.
func certCluster(t *testing.T) (*cluster, *authority) {
	t.Helper()
	ca := newAuthority(t, t.TempDir(), "ca")
	soon := time.Now().Add(time.Hour)
	ca.issue("database", "database", soon)
	ca.issue("server", "stint-server", soon)
	ca.issue("replica", "two@replicas", soon)
	ca.issue("mallory", "mallory", soon)
	ca.issue("role", "stint", soon) // the role's own name, which the map does not have
	ca.issue("old", "stint-server", time.Now().Add(-time.Minute))
	stranger := newAuthority(t, t.TempDir(), "ca")
	stranger.issue("forged", "stint-server", soon)
	for _, file := range []string{"forged.crt", "forged.key"} {
		must(t, os.Rename(filepath.Join(stranger.dir, file), filepath.Join(ca.dir, file)))
	}
	c := newCluster(t)
	for from, to := range map[string]string{"database.crt": "server.crt", "database.key": "server.key", "ca.crt": "root.crt"} {
		text, err := os.ReadFile(filepath.Join(ca.dir, from))
		must(t, err)
		c.write(to, string(text))
	}
	c.write("pg_hba.conf", certHBA)
	c.write("pg_ident.conf", certIdent)
	c.write("postgresql.auto.conf", "ssl = on\nssl_ca_file = 'root.crt'\nssl_cert_file = 'server.crt'\nssl_key_file = 'server.key'\n")
	c.start()
	c.sql("create role stint login", "create database stint owner stint")
	return c, ca
}

// stint runs the program to its end.
func stint(t *testing.T, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	path, err := binary()
	must(t, err)
	cmd := exec.Command(path, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append([]string{"HOME=" + cmd.Dir, "PATH=" + os.Getenv("PATH")}, env...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the state has it
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// told runs stint, up to five times while it only reports a reset connection. In
// TLS 1.3 the server refuses a certificate after the client's handshake is done,
// and the reset of its socket may overtake the alert that says why. Exit code 75
// says to try again.
func told(t *testing.T, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	for range 5 {
		stdout, stderr, code = stint(t, env, args...)
		if code != 75 || !strings.Contains(stderr, "connection reset by peer") && !strings.Contains(stderr, "broken pipe") {
			break
		}
	}
	return stdout, stderr, code
}

// TestCertificateLetsIn: migrate, token create and serve reach a PostgreSQL that
// takes certificates alone; the server is ready again after its restart.
func TestCertificateLetsIn(t *testing.T) {
	t.Parallel()
	c, ca := certCluster(t)
	url := c.url(ca, "server")
	if _, errs, code := stint(t, nil, "migrate", "up", "--db", url); code != 0 {
		t.Fatalf("migrate up: %d\n%s", code, errs)
	}
	token, errs, code := stint(t, nil, "token", "create", "--db", c.url(ca, "replica"), "--owner", "default", "--scopes", "admin", "-o", "table")
	if code != 0 {
		t.Fatalf("token create by another name of the map: %d\n%s", code, errs)
	}
	p := newProcess(t, url)
	p.Token = strings.TrimSpace(token)
	p.launch()
	p.awaitReady()
	id := p.Must(201, "/v1/jobs", `{"kind":"review"}`).Str("job.id")
	c.stop()
	apitest.Await(t, "unready", func() bool { return p.Get("/readyz").Status == http.StatusServiceUnavailable })
	c.start()
	p.awaitReady()
	if a := p.Get("/v1/jobs/" + id); a.Status != 200 {
		t.Errorf("the job, after the restart: %s", a)
	}
	if log := p.log.String(); strings.Contains(log, "PRIVATE KEY") {
		t.Errorf("the log shows a key:\n%s", log)
	}
}

// TestOnlyAMappedCertificateLetsIn: each of the others is refused, by one line
// that says so, and a server does not wait for what no waiting mends.
func TestOnlyAMappedCertificateLetsIn(t *testing.T) {
	t.Parallel()
	c, ca := certCluster(t)
	token := []string{"token", "create", "--owner", "default", "--scopes", "admin"}
	serve, migrate := []string{"serve", "--addr", "127.0.0.1:0", "--admin-addr", ""}, []string{"migrate", "up"}
	plain := strings.Replace(c.url(ca, ""), "verify-full", "disable", 1)
	elsewhere := newAuthority(t, t.TempDir(), "ca")
	unvouched := strings.Replace(c.url(ca, "server"), filepath.Join(ca.dir, "ca.crt"), filepath.Join(elsewhere.dir, "ca.crt"), 1)
	for name, tt := range map[string]struct {
		url, says string
		commands  [][]string
	}{
		"no certificate":              {c.url(ca, ""), "requires a valid client certificate", [][]string{token, serve, migrate}},
		"a name the map has not":      {c.url(ca, "mallory"), "certificate authentication failed", [][]string{token, serve}},
		"the role's own name":         {c.url(ca, "role"), "certificate authentication failed", [][]string{token}},
		"one that ran out":            {c.url(ca, "old"), "tls: expired certificate", [][]string{token, serve, migrate}},
		"another authority's":         {c.url(ca, "forged"), "tls: unknown certificate authority", [][]string{token}},
		"no TLS":                      {plain, "no encryption", [][]string{token}},
		"a password instead":          {strings.Replace(plain, "stint@", "stint:s3cr3t@", 1), "no pg_hba.conf entry", [][]string{token, serve}},
		"a server nobody vouches for": {unvouched, "certificate signed by unknown authority", [][]string{serve}},
		"another name of the server":  {strings.Replace(c.url(ca, "server"), "127.0.0.1", "localhost", 1), "certificate is not valid", [][]string{token}},
	} {
		for _, command := range tt.commands {
			out, errs, code := told(t, []string{"STINT_DB=" + tt.url}, command...)
			lines := strings.Split(strings.TrimSpace(errs), "\n")
			last := lines[len(lines)-1]
			if code != 1 || !strings.HasPrefix(last, "stint: ") || !strings.Contains(last, tt.says) || command[0] != "serve" && len(lines) != 1 {
				t.Errorf("%s, %s: %d\n%s", name, command[0], code, errs)
			}
			for _, secret := range []string{"s3cr3t", "PRIVATE KEY", "goroutine"} {
				if strings.Contains(out+errs, secret) {
					t.Errorf("%s, %s: shows %q\n%s", name, command[0], secret, errs)
				}
			}
		}
	}
}
