package kept

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

var update = flag.Bool("update", false, "write docs/downgrade anew from the down parts of the migrations")

// byHand is the release to which the way back is written by hand: the migrations
// behind it were released with empty down parts. They must not be changed.
const byHand = "0001"

// wayBack is a file of docs/downgrade: from the release after it, or else from
// the newest migration of this build, back to a release.
type wayBack struct {
	engine, to, file string
	undone           []string // paths of the migrations that it undoes, oldest first
}

func (w wayBack) path(t *testing.T) string {
	return filepath.Join(dbtest.Root(t), "docs", "downgrade", w.file)
}

// remedy says which file to edit.
func (w wayBack) remedy() string {
	if w.to == byHand {
		return "Edit docs/downgrade/" + w.file + "."
	}
	return "Edit what stands under -- migrate:down in " + strings.Join(w.undone, ", ") + ", then write docs/downgrade anew: " + rewrite
}

const rewrite = "make test pkg=./server/kept args='-run WayBack -update'"

// waysBack are the files that docs/downgrade must hold, in the order of the
// releases.
func waysBack(t *testing.T) []wayBack {
	t.Helper()
	versions := schema.Expected(schema.Postgres)
	var kept []string
	for _, dir := range releases(t) {
		kept = append(kept, filepath.Base(dir))
	}
	var out []wayBack
	for i, to := range kept {
		from := versions[len(versions)-1]
		if i+1 < len(kept) {
			from = kept[i+1]
		}
		for _, engine := range engines {
			w := wayBack{engine: engine, to: to, file: to + "." + engine + ".sql"}
			for _, version := range versions {
				if version > to && version <= from {
					w.undone = append(w.undone, migrationPath(t, engine, version))
				}
			}
			if len(w.undone) > 0 {
				out = append(out, w)
			}
		}
	}
	return out
}

// migrationPath is below the repository's root.
func migrationPath(t *testing.T, engine, version string) string {
	t.Helper()
	root := dbtest.Root(t)
	files, err := filepath.Glob(filepath.Join(root, "schema", engine, version+"_*.sql"))
	if err != nil || len(files) != 1 {
		t.Fatalf("schema/%s/%s_*.sql: %d files, %v", engine, version, len(files), err)
	}
	path, err := filepath.Rel(root, files[0])
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestEveryReleaseHasAWayBack: the statements that docs/operations.md tells to
// run are those under -- migrate:down. With -update the files are written anew.
func TestEveryReleaseHasAWayBack(t *testing.T) {
	for _, w := range waysBack(t) {
		if w.to == byHand {
			continue // that it works, TestDowngradeLeavesTheSchemaOfTheRelease holds
		}
		want := w.text(t)
		if *update {
			if err := os.WriteFile(w.path(t), []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(w.path(t))
		if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
			t.Errorf("docs/downgrade/%s is not made of the migrations' down parts; write it anew: %s\n%v\n%s", w.file, rewrite, err, diff)
		}
	}
}

// text is the whole file, made of the down parts, the newest first.
func (w wayBack) text(t *testing.T) string {
	t.Helper()
	begin, stop := "begin;", "Stop every server of the newer build first"
	if w.engine == store.SQLite {
		begin, stop = "begin immediate;", "Stop the server first"
	}
	var parts, versions []string
	for _, path := range w.undone {
		versions = append(versions, "'"+filepath.Base(path)[:4]+"'")
		parts = append([]string{w.downPart(t, path)}, parts...)
	}
	return fmt.Sprintf(`-- From %s back to %s, on %s. %s; what only
-- the newer build knows is gone after this. Made of the migrations' down parts: edit those.
%s

%s

%s

delete from schema_migrations where version in (%s);

commit;
`, w.from(), w.to, map[string]string{store.SQLite: "SQLite", store.Postgres: "PostgreSQL"}[w.engine], stop, begin, w.guard(),
		strings.Join(parts, "\n\n"), strings.Join(versions, ", "))
}

// from is the version that the file leads from, and the only one that it may be run on.
func (w wayBack) from() string { return filepath.Base(w.undone[len(w.undone)-1])[:4] }

// guard is what a file begins with: it fails on every other version, where the rest
// would delete data and leave a schema that no build knows. SQLite can say a text of
// ours only as the name of a constraint.
func (w wayBack) guard() string {
	text := `do $$
begin
    if (select max(version) from schema_migrations) is distinct from 'FROM' then
        raise exception 'this file leads from version FROM, and this database is at %; if that is newer, run FROM.postgres.sql first',
            (select max(version) from schema_migrations);
    end if;
end $$;`
	if w.engine == store.SQLite {
		text = `create temp table way_back (
    newest text,
    constraint "this file leads from version FROM; on a newer database run FROM.sqlite.sql first" check (newest is 'FROM')
);
insert into way_back select max(version) from schema_migrations;
drop table way_back;`
	}
	return strings.ReplaceAll(text, "FROM", w.from())
}

func (w wayBack) downPart(t *testing.T, path string) string {
	t.Helper()
	_, down, _ := strings.Cut(string(read(t, filepath.Join(dbtest.Root(t), path))), "-- migrate:down")
	if down = strings.TrimSpace(down); down == "" {
		t.Errorf("%s: write under -- migrate:down the statements that undo its up part", path)
	}
	return down
}
