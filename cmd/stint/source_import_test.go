package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/apitest"
)

// connected is a connection of a new connector that declares those streams.
func (s *replica) connected(connector, streams string) (id string) {
	s.t.Helper()
	a := s.Call(http.MethodPut, "/v1/connectors/"+connector, `{"manifest":{"streams":[`+streams+`]}}`)
	if a.Status != http.StatusCreated {
		s.t.Fatalf("put the connector: %s", a)
	}
	return s.Must(http.StatusCreated, "/v1/connections", `{"connector_id":"`+connector+`"}`).Str("connection.id")
}

const modules = `{"name":"modules","semantics":"mutable_state","primary_key":["path"]}`

// stored is what a connection has of a stream.
type stored struct {
	Name      string
	LiveCount int64 `json:"live_count"`
	Version   int64
}

func (s *replica) stored(connection, stream string) stored {
	s.t.Helper()
	var c struct{ Streams []stored }
	s.get("/v1/connections/"+connection, &c)
	for _, one := range c.Streams {
		if one.Name == stream {
			return one
		}
	}
	return stored{}
}

// moduleLines are records of n modules.
func moduleLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"stream":"modules","data":{"path":"m/%d","n":%d}}`+"\n", i, i)
	}
	return b.String()
}

// command runs stint to its end, and is its outputs and exit code.
func (s *replica) command(in string, args ...string) (stdout, stderr string, code int) {
	s.t.Helper()
	cmd := exec.Command("stint", args...)
	cmd.Env, cmd.Stdin, cmd.Dir = s.env(), strings.NewReader(in), s.t.TempDir()
	var out, wrong strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &wrong
	if err := cmd.Run(); cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	return out.String(), wrong.String(), cmd.ProcessState.ExitCode()
}

// An import that was killed in the middle of its input and begun again leaves every
// record once: its first batches are known, and the rest is new.
func TestKilledImportIsResumed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *replica) {
		const sent, all = 2500, 3200
		connection := s.connected("go", modules)
		lines := moduleLines(all)
		in, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		cmd := exec.Command("stint", "source", "import", "-", "--connection", connection)
		cmd.Env, cmd.Stdin = s.env(), in
		p := launch(t, cmd)
		head := strings.Join(strings.SplitAfter(lines, "\n")[:sent], "")
		if _, err := io.WriteString(w, head); err != nil {
			t.Fatal(err)
		}
		apitest.Await(t, "two batches", func() bool { return s.stored(connection, "modules").LiveCount == 2000 })
		p.kill()
		w.Close()

		out, wrong, code := s.command(lines, "source", "import", "-", "--connection", connection, "-o", "table")
		if want := fmt.Sprintf("%d accepted, 0 unchanged, 0 checkpoints, 0 rejected\n", all); out != want || code != 0 {
			t.Errorf("%q, %q, exit code %d; want %q", out, wrong, code, want)
		}
		if got := s.stored(connection, "modules"); got.LiveCount != all || got.Version != all {
			t.Errorf("%+v, want each of %d records once", got, all)
		}
	})
}

// A server that is away for a while breaks nothing off; one that stays away ends the
// import with the exit code for that.
func TestImportWaitsForAServerThatIsAway(t *testing.T) {
	t.Parallel()
	eachServing(t, func(t *testing.T, s *serving) {
		connection := s.connected("go", modules)
		file := filepath.Join(t.TempDir(), "modules.ndjson")
		if err := os.WriteFile(file, []byte(moduleLines(1500)), 0o600); err != nil {
			t.Fatal(err)
		}
		s.kill()
		p := spawn(t, s.env(), "stint", "source", "import", file, "--connection", connection, "--run", "-o", "table")
		apitest.Await(t, "a try without an answer", func() bool { return p.out.Has("trying again: no answer") })
		s.start()
		if code := p.exit(t); code != 0 || !p.out.Has("1500 accepted") {
			t.Errorf("exit code %d", code)
		}
		if runs := s.runs("kind=manual"); len(runs) != 1 || runs[0].Status != "succeeded" {
			t.Errorf("runs: %+v", runs)
		}
	})
}
