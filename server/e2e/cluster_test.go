package e2e

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
)

// authority makes certificates, as `openssl req` and `openssl x509` do.
type authority struct {
	t    *testing.T
	dir  string // where the files of clients go
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	n    int64
}

func newAuthority(t *testing.T, dir, name string) *authority {
	t.Helper()
	a := &authority{t: t, dir: dir}
	ca := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	a.cert, a.key = a.sign(name, ca)
	return a
}

// issue makes NAME.crt and NAME.key for a subject, until a time.
func (a *authority) issue(name, commonName string, until time.Time) {
	a.t.Helper()
	a.sign(name, &x509.Certificate{
		Subject: pkix.Name{CommonName: commonName}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: until.Add(-2 * time.Hour), NotAfter: until,
	})
}

func (a *authority) sign(name string, cert *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	a.n++
	cert.SerialNumber = big.NewInt(a.n)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(a.t, err)
	parent, parentKey := a.cert, a.key
	if parent == nil {
		parent, parentKey = cert, key
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, parent, &key.PublicKey, parentKey)
	must(a.t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	must(a.t, err)
	for file, block := range map[string]*pem.Block{".crt": {Type: "CERTIFICATE", Bytes: der}, ".key": {Type: "PRIVATE KEY", Bytes: secret}} {
		must(a.t, os.WriteFile(filepath.Join(a.dir, name+file), pem.EncodeToMemory(block), 0o600))
	}
	made, err := x509.ParseCertificate(der)
	must(a.t, err)
	return made, key
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// cluster is a PostgreSQL server of the test's own.
type cluster struct {
	t     *testing.T
	bin   string // the folder of its programs
	dir   string
	port  int
	owner *syscall.Credential // nil: the user of the test
	stop  func()
}

// newCluster makes a cluster that is not started. It belongs to an unprivileged
// user, since PostgreSQL does not run as root, and is removed with the test.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	dir, err := os.MkdirTemp("", "stint-cert.")
	must(t, err)
	c := &cluster{t: t, bin: postgresBin(t), dir: dir, stop: func() {}}
	t.Cleanup(func() {
		c.stop()
		_ = os.RemoveAll(dir)
	})
	if os.Geteuid() == 0 {
		c.owner = unprivileged(t)
		must(t, os.Chown(dir, int(c.owner.Uid), int(c.owner.Gid)))
	}
	c.run("initdb", "-D", c.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	return c
}

func (c *cluster) data() string { return filepath.Join(c.dir, "data") }

// postgresBin is where tools/with-postgres finds the programs too.
func postgresBin(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("STINT_POSTGRES_BIN"); dir != "" {
		return dir
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) > 0 {
		slices.SortFunc(found, func(a, b string) int { return majorOf(b) - majorOf(a) })
		return filepath.Dir(found[0])
	}
	path, err := exec.LookPath("postgres")
	if err != nil {
		t.Fatal("no PostgreSQL server here: run the tests by tools/with-postgres, or set STINT_POSTGRES_BIN")
	}
	path, err = filepath.EvalSymlinks(path)
	must(t, err)
	return filepath.Dir(path)
}

func majorOf(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}

func unprivileged(t *testing.T) *syscall.Credential {
	t.Helper()
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	must(t, err)
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	must(t, err)
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	must(t, err)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// command is a program of PostgreSQL, run as the cluster's user. It ends with
// the test's process, whatever ends that.
func (c *cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.bin, name), args...)
	cmd.Dir, cmd.Env = c.dir, []string{"PATH=/usr/bin:/bin", "HOME=" + c.dir, "LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.owner, Pdeathsig: syscall.SIGQUIT, Setpgid: true}
	return cmd
}

func (c *cluster) run(name string, args ...string) {
	c.t.Helper()
	if out, err := c.command(name, args...).CombinedOutput(); err != nil {
		c.t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// write puts a file into the data folder, readable by the server alone.
func (c *cluster) write(name, text string) {
	c.t.Helper()
	path := filepath.Join(c.data(), name)
	must(c.t, os.WriteFile(path, []byte(text), 0o600))
	if c.owner != nil {
		must(c.t, os.Chown(path, int(c.owner.Uid), int(c.owner.Gid)))
	}
}

// start runs the server until stop, on a port of its own.
func (c *cluster) start() {
	c.t.Helper()
	if c.port == 0 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(c.t, err)
		c.port = l.Addr().(*net.TCPAddr).Port
		must(c.t, l.Close())
	}
	var log bytes.Buffer
	cmd := c.command("postgres", "-D", c.data(), "-p", strconv.Itoa(c.port), "-k", c.dir,
		"-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "max_connections=40", "-c", "shared_buffers=16MB")
	cmd.Stdout, cmd.Stderr = &log, &log
	begun, ended := make(chan error), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // Pdeathsig comes when the thread ends that began the process
		begun <- cmd.Start()
		_ = cmd.Wait() // stopped by a signal
	}()
	must(c.t, <-begun)
	c.stop = func() {
		_ = cmd.Process.Signal(syscall.SIGINT) // it may have ended
		<-ended
		c.stop = func() {}
	}
	apitest.Await(c.t, "PostgreSQL is ready", func() bool {
		select {
		case <-ended:
			c.t.Fatalf("PostgreSQL ended:\n%s", log.String())
		default:
		}
		text, _ := os.ReadFile(filepath.Join(c.data(), "postmaster.pid"))
		lines := strings.Split(string(text), "\n")
		return len(lines) > 7 && strings.HasPrefix(lines[7], "ready")
	})
}

// sql runs statements as the superuser, by the socket: an installation may lack
// psql beside the server's programs.
func (c *cluster) sql(statements ...string) {
	c.t.Helper()
	url := fmt.Sprintf("postgres://postgres@/postgres?host=%s&port=%d", c.dir, c.port)
	for _, s := range statements {
		dbtest.Plant(c.t, url, s)
	}
}

// url is the database by a client's certificate; "" shows none.
func (c *cluster) url(ca *authority, client string) string {
	url := fmt.Sprintf("postgres://stint@127.0.0.1:%d/stint?sslmode=verify-full&connect_timeout=5&sslrootcert=%s", c.port, filepath.Join(ca.dir, "ca.crt"))
	if client != "" {
		url += fmt.Sprintf("&sslcert=%[1]s.crt&sslkey=%[1]s.key", filepath.Join(ca.dir, client))
	}
	return url
}
