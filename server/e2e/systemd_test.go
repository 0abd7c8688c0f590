package e2e

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// unit is the [Service] part of a unit file: the values of each name.
type unit map[string][]string

func readUnit(t *testing.T, path string) unit {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	u, section := unit{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch name, value, ok := strings.Cut(line, "="); {
		case line == "", strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			section = line
		case !ok:
			t.Errorf("%q is no setting", line)
		case section == "[Service]":
			u[name] = append(u[name], value)
		}
	}
	return u
}

// start does what systemd does before it starts the service.
func (u unit) start(t *testing.T, p *process, states string) (told *net.UnixConn) {
	t.Helper()
	state := filepath.Join(states, u["StateDirectory"][0])
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(states, "notify")
	told, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { told.Close() })
	p.dir = strings.ReplaceAll(u["WorkingDirectory"][0], "%S", states)
	for _, e := range u["Environment"] {
		p.env = append(p.env, strings.ReplaceAll(e, "%S", states))
	}
	p.env = append(p.env, "NOTIFY_SOCKET="+socket)
	p.launch()
	return told
}

// hears waits for a message of the service.
func hears(t *testing.T, told *net.UnixConn, want string) {
	t.Helper()
	if err := told.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 4096)
	n, err := told.Read(text)
	if got := string(text[:n]); err != nil || got != want {
		t.Fatalf("heard %q, %v; want %q", got, err, want)
	}
}

// A stop that is cut short kills commands that had time left, and loses reports.
func TestTheWorkersUnitWaitsForTheGrace(t *testing.T) {
	t.Parallel()
	u := readUnit(t, "../../docs/systemd/stint-worker.service")
	for name, want := range map[string]string{"KillMode": "mixed", "KillSignal": "SIGTERM", "OOMPolicy": "continue",
		"EnvironmentFile": "/etc/stint/worker.env", "RestartPreventExitStatus": "2 5"} {
		if !slices.Equal(u[name], []string{want}) {
			t.Errorf("%s is %q, want %q", name, u[name], want)
		}
	}
	_, flags, _ := strings.Cut(u["ExecStart"][0], " --grace ")
	grace, err := time.ParseDuration(strings.Fields(flags)[0])
	if err != nil {
		t.Fatal(err)
	}
	stop, err := strconv.Atoi(u["TimeoutStopSec"][0])
	if err != nil {
		t.Fatal(err)
	}
	if least := grace + 30*time.Second; time.Duration(stop)*time.Second < least {
		t.Errorf("a stop may take %d s, and needs %s", stop, least)
	}
}

func TestTheSystemdUnitStartsServesAndStops(t *testing.T) {
	t.Parallel()
	u := readUnit(t, "../../docs/systemd/stint.service")
	for name, want := range map[string]string{"Type": "notify", "KillSignal": "SIGTERM", "ExecStart": "/usr/local/bin/stint serve",
		"Restart": "on-failure", "EnvironmentFile": "-/etc/stint/stint.env", "StateDirectoryMode": "0700"} {
		if !slices.Equal(u[name], []string{want}) {
			t.Errorf("%s is %q, want %q", name, u[name], want)
		}
	}
	states := t.TempDir()
	p := newProcess(t, "")
	told := u.start(t, p, states)
	hears(t, told, "READY=1")
	if !p.Ready() {
		t.Error("it said ready, and is not")
	}
	token, err := os.ReadFile(filepath.Join(states, "stint", "stint.db.token"))
	if err != nil {
		t.Fatal(err)
	}
	if a := p.As(strings.TrimSpace(string(token))).Get("/v1/whoami"); a.Status != 200 {
		t.Errorf("%s", a)
	}
	p.signal(syscall.SIGTERM)
	hears(t, told, "STOPPING=1")
	if code := p.exit(30 * time.Second); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
