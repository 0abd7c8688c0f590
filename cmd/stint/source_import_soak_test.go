//go:build soak

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/server/apitest"
)

// books are the lines of docs/examples/packages on this machine, by stream.
func books(t *testing.T) map[string][]byte {
	t.Helper()
	script, err := filepath.Abs("../../docs/examples/packages/packages.sh")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, stream := range []string{"packages", "changes", "available"} {
		out, err := exec.Command(script, stream).Output()
		if err != nil {
			t.Fatalf("%s: %v", stream, err)
		}
		all[stream] = out
	}
	return all
}

// Debian's books are imported while importers and the server are killed, and again,
// changed, and without one of their streams. At every point each record is there
// once, and its version moves only when it says something else.
func TestSoakBooksOfDebianAreKeptOnce(t *testing.T) {
	lines := books(t)
	whole := bytes.Join([][]byte{lines["packages"], lines["changes"], lines["available"]}, nil)
	file := filepath.Join(t.TempDir(), "books.ndjson")
	if err := os.WriteFile(file, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile("../../docs/examples/packages/manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	eachServing(t, func(t *testing.T, s *serving) {
		s.Call("PUT", "/v1/connectors/debian", `{"manifest":`+string(manifest)+`}`)
		b := &bookSoak{serving: s, t: t, connection: s.Must(201, "/v1/connections", `{"connector_id":"debian"}`).Str("connection.id"), file: file}
		b.killed(bytes.Count(whole, []byte("\n")))
		first := b.all()
		t.Logf("first import: %+v", first)

		b.imports(file, "--run")
		b.same("imported again", first)

		changed := bytes.ReplaceAll(lines["packages"], []byte(`"section":"libs"`), []byte(`"section":"old"`))
		n := int64(bytes.Count(lines["packages"], []byte(`"section":"libs"`)))
		b.write("changed.ndjson", changed)
		b.imports(filepath.Join(filepath.Dir(file), "changed.ndjson"), "--run")
		first[0].Version += n
		b.same(fmt.Sprintf("%d packages changed", n), first)

		b.write("none.ndjson", nil)
		b.imports(filepath.Join(filepath.Dir(file), "none.ndjson"), "--full-refresh", "available")
		b.await("removal begins", func() bool { return s.stored(b.connection, "available").LiveCount < first[2].LiveCount })
		s.kill()
		s.start()
		b.await("all are removed", func() bool { return s.stored(b.connection, "available").LiveCount == 0 })
		first[2].Version, first[2].LiveCount = first[2].Version+first[2].LiveCount, 0
		b.same("one stream deleted", first)
	})
}

type bookSoak struct {
	*serving
	t                *testing.T
	connection, file string
}

func (b *bookSoak) write(name string, text []byte) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(filepath.Dir(b.file), name), text, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// killed imports the file: its importer is killed after a tenth of the lines, and
// the server after half of them.
func (b *bookSoak) killed(lines int) {
	b.t.Helper()
	args := []string{"source", "import", b.file, "--connection", b.connection, "-o", "table"}
	importer := spawn(b.t, b.env(), "stint", args...)
	b.await("a tenth", func() bool { return b.live() > int64(lines/10) })
	importer.kill()
	importer = spawn(b.t, b.env(), "stint", args...)
	b.await("half", func() bool { return b.live() > int64(lines/2) })
	b.kill()
	b.start()
	b.await("the end of the import", func() bool {
		select {
		case <-importer.ended:
			return true
		default:
			return false
		}
	})
	if !importer.out.Has(" accepted, ") {
		b.t.Errorf("the import says:\n%s", importer.out)
	}
}

func (b *bookSoak) await(what string, is func() bool) {
	b.t.Helper()
	apitest.Within(b.t, what, 5*time.Minute, is)
}

// imports imports a file to its end. Some old changelogs are no UTF-8: those lines
// are rejected.
func (b *bookSoak) imports(file string, flags ...string) {
	b.t.Helper()
	out, wrong, code := b.command("", append([]string{"source", "import", file, "--connection", b.connection, "-o", "table"}, flags...)...)
	b.t.Logf("%s %v: %s", filepath.Base(file), flags, strings.TrimSpace(out))
	if code != 0 && (code != 1 || !strings.Contains(wrong, "invalid_json")) {
		b.t.Fatalf("exit code %d: %s", code, wrong)
	}
}

// all is what there is of each stream.
func (b *bookSoak) all() (all []stored) {
	b.t.Helper()
	for _, stream := range []string{"packages", "changes", "available"} {
		all = append(all, b.stored(b.connection, stream))
	}
	return all
}

func (b *bookSoak) live() (n int64) {
	for _, s := range b.all() {
		n += s.LiveCount
	}
	return n
}

func (b *bookSoak) same(when string, want []stored) {
	b.t.Helper()
	if got := b.all(); fmt.Sprint(got) != fmt.Sprint(want) {
		b.t.Errorf("%s: %+v, want %+v", when, got, want)
	}
}
