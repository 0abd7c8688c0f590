package schema

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var release = flag.Bool("release", false, "add every migration that sums.txt lacks")

// loadOwn reads the files of the folders, whatever tags this build has.
func loadOwn(t *testing.T, engine string) []migration {
	t.Helper()
	known, err := load(embedded, engine)
	if err != nil {
		t.Fatal(err)
	}
	return known
}

func TestBothEnginesHaveTheSameMigrations(t *testing.T) {
	t.Parallel()
	postgres, sqlite := loadOwn(t, Postgres), loadOwn(t, SQLite)
	if diff := cmp.Diff(names(postgres), names(sqlite)); diff != "" {
		t.Errorf("a twin is missing: %s", diff)
	}
	for i, m := range postgres {
		if want := fmt.Sprintf("%04d", i+1); m.version != want {
			t.Errorf("%s: its number should be %s", m.name, want)
		}
	}
}

// sums reads sums.txt: path → checksum.
func sums(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open("sums.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sums := map[string]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) == 2 && fields[0] != "#" {
			sums[fields[1]] = fields[0]
		} else if !strings.HasPrefix(lines.Text(), "#") {
			t.Errorf("sums.txt: %q is not CHECKSUM PATH", lines.Text())
		}
	}
	return sums
}

func TestReleasedMigrationsAreNeverEdited(t *testing.T) {
	if *release {
		addSums(t)
	}
	listed := sums(t)
	for _, engine := range []string{Postgres, SQLite} {
		unreleased := ""
		for _, m := range loadOwn(t, engine) {
			sum, ok := listed[m.path]
			delete(listed, m.path)
			switch {
			case !ok:
				unreleased = m.path
			case unreleased != "":
				t.Errorf("%s is released, and the older %s is not", m.path, unreleased)
			case sum != m.checksum:
				t.Errorf("%s was released and has changed: restore it, and write the next migration", m.path)
			}
		}
	}
	for path := range listed {
		t.Errorf("%s was released and is gone", path)
	}
}

func TestAMigrationIsReleasedOnBothEngines(t *testing.T) {
	t.Parallel()
	released := map[string][]string{}
	for path := range sums(t) {
		engine, name, _ := strings.Cut(path, "/")
		released[name] = append(released[name], engine)
	}
	for name, engines := range released {
		if len(engines) != 2 {
			t.Errorf("%s is released on %v only", name, engines)
		}
	}
}

func addSums(t *testing.T) {
	t.Helper()
	listed := sums(t)
	f, err := os.OpenFile("sums.txt", os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(loadOwn(t, Postgres), loadOwn(t, SQLite))
	slices.SortFunc(all, func(a, b migration) int { return strings.Compare(a.name+a.path, b.name+b.path) })
	for _, m := range all {
		if _, ok := listed[m.path]; !ok {
			fmt.Fprintf(f, "%s  %s\n", m.checksum, m.path)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// The schema of this build, and not a fixture, applies on both engines.
func TestTheSchemaOfThisBuildApplies(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db database) {
		report, err := Migrate(t.Context(), Options{URL: db.url})
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Applied) != len(Expected(db.engine)) {
			t.Errorf("%d applied, %d expected", len(report.Applied), len(Expected(db.engine)))
		}
		if err := Verify(t.Context(), Options{URL: db.url}); err != nil {
			t.Error(err)
		}
	})
}
