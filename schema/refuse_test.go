package schema

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// refused runs every mode over a database and checks that it is left alone.
func refused(t *testing.T, db database, code, name string, steps ...step) {
	t.Helper()
	before := db.dump(t)
	for _, mode := range []Mode{Auto, VerifyOnly, Off} {
		o := db.options(steps...)
		o.Mode = mode
		_, err := Migrate(t.Context(), o)
		wantRefusal(t, err, code, name)
		if diff := cmp.Diff(before, db.dump(t)); diff != "" {
			t.Errorf("mode %s changed something: %s", mode, diff)
		}
	}
	if code == CodeBadIndex {
		return // no reason not to show a plan
	}
	if _, err := Plan(t.Context(), db.options(steps...)); Code(err) != code {
		t.Errorf("plan: %v", err)
	}
}

func TestAnUnknownVersionIsRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db database) {
		db.migrate(t, one)
		db.exec(t, "insert into schema_migrations (version) values ('20990101000000')")
		refused(t, db, CodeUnsupported, "20990101000000", one, two)
		_, err := Migrate(t.Context(), db.options(one, two))
		for _, part := range []string{"unsupported_schema", "newer build", "backup"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not say %q", err, part)
			}
		}
	})
}

func TestAnEditedMigrationIsRefused(t *testing.T) {
	t.Parallel()
	text := func(up string) step {
		return step{name: one.name, postgres: "-- migrate:up\n" + up + "\n-- migrate:down\n"}
	}
	released := text("create table a (id bigint);")
	edits := map[string]step{
		"one character": text("create table a (ix bigint);"),
		"a comment":     text("-- rows\ncreate table a (id bigint);"),
		"a blank":       text("create table a (id bigint); "),
		"the down part": {name: one.name, postgres: released.postgres + "drop table a;\n"},
	}
	each(t, func(t *testing.T, db database) {
		db.migrate(t, released)
		for name, edit := range edits {
			t.Run(name, func(t *testing.T) { refused(t, db, CodeEdited, one.name, edit, two) })
		}
	})
}

func TestOtherLineEndsAreNoEdit(t *testing.T) {
	t.Parallel()
	file := "-- migrate:up\ncreate table a (id bigint);\n-- migrate:down\ndrop table a;\n"
	each(t, func(t *testing.T, db database) {
		db.migrate(t, step{name: one.name, postgres: strings.ReplaceAll(file, "\n", "\r\n")})
		if report := db.migrate(t, step{name: one.name, postgres: file}); len(report.Applied) != 0 {
			t.Errorf("applied again: %+v", report)
		}
	})
}

func TestAnOutOfOrderMigrationIsRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db database) {
		db.migrate(t, one, three0())
		refused(t, db, CodeOutOfOrder, two.name, one, two, three0())
	})
}

func TestTwoFilesOfOneNumberAreRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db database) {
		db.migrate(t, one)
		twin := step{name: "0002_twin.sql", postgres: "select 1"}
		refused(t, db, CodeDuplicate, two.name, one, two, twin)
		refused(t, db, CodeDuplicate, twin.name, one, two, twin)
	})
}

// The databases here cannot be reached: a bad file is refused before that.
func TestUnusableFilesAreRefused(t *testing.T) {
	t.Parallel()
	const down = "\n-- migrate:down\n"
	index := "-- migrate:up transaction:false\ncreate index concurrently a_b on a (b);" + down
	for _, tt := range []struct{ name, file, postgres, sqlite string }{
		{"two up parts", "0002_x.sql", "-- migrate:up\nselect 1;" + down + "-- migrate:up\nselect 2;" + down, ""},
		{"two down parts", "0002_x.sql", "-- migrate:up\nselect 1;" + down + "select 1;" + down, ""},
		{"no down part", "0002_x.sql", "-- migrate:up\nselect 1;\n", ""},
		{"down before up", "0002_x.sql", "-- migrate:down\n-- migrate:up\nselect 1;", ""},
		{"a statement in front", "0002_x.sql", "select 1;\n-- migrate:up\nselect 1;" + down, ""},
		{"nothing to run", "0002_x.sql", "-- migrate:up\n-- later;\n/* ; */" + down, ""},
		{"its own commit", "0002_x.sql", "-- migrate:up\nselect 1; commit; select 2;" + down, ""},
		{"its own begin", "0002_x.sql", "-- migrate:up\nBEGIN; select 1;" + down, ""},
		{"no transaction", "0002_x.sql", "-- migrate:up transaction:false\nupdate a set b = 1;" + down, ""},
		{"two indexes", "0002_x.sql", "-- migrate:up transaction:false\ncreate index concurrently x on a (b); create index concurrently y on a (b);" + down, ""},
		{"an index without a name", "0002_x.sql", "-- migrate:up transaction:false\ncreate index concurrently on a (b);" + down, ""},
		{"no transaction on SQLite", "0002_x.sql", "-- migrate:up\nselect 1;" + down, index},
		{"a short number", "02_x.sql", "select 1", ""},
		{"a date for a number", "20260101000000_x.sql", "select 1", ""},
		{"a capital in the name", "0002_X.sql", "select 1", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url := "postgres://127.0.0.1:1/unreachable"
			if tt.sqlite != "" {
				url = "sqlite:" + t.TempDir() + "/none.db"
			}
			files := fixture(one, step{tt.file, tt.postgres, tt.sqlite})
			_, err := Migrate(t.Context(), Options{URL: url, FS: files})
			wantRefusal(t, err, CodeInvalidFile, tt.file)
		})
	}
}
