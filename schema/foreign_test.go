package schema

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAnotherProgramsDatabaseIsRefused, in every mode, and left byte for byte as
// it was.
func TestAnotherProgramsDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db database) {
		for _, table := range []string{"books", "albums", "records", "tapes"} {
			db.exec(t, "create table "+table+" (id integer)")
		}
		before := fileOf(t, db)
		refused(t, db, CodeForeign, "albums, books, records, …", one)
		if err := RefuseForeign(t.Context(), db.options(one)); Code(err) != CodeForeign {
			t.Errorf("got %v", err)
		}
		if diff := cmp.Diff(before, fileOf(t, db)); diff != "" {
			t.Error("the file was written to")
		}
	})
}

// fileOf is the bytes of an SQLite database.
func fileOf(t *testing.T, db database) string {
	t.Helper()
	if db.engine != SQLite {
		return ""
	}
	text, err := os.ReadFile(strings.TrimPrefix(db.url, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestADatabaseWithoutForeignTablesIsTaken: what SQLite, an extension or nobody
// made; and one whose versions are there, whatever stands beside them.
func TestADatabaseWithoutForeignTablesIsTaken(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db database) {
		if err := RefuseForeign(t.Context(), db.options(one)); err != nil {
			t.Errorf("empty: %v", err)
		}
		db.exec(t, "create table gone (id integer)")
		db.exec(t, "analyze")
		db.exec(t, "drop table gone")
		db.migrate(t, one)
		db.exec(t, "create table beside (id integer)")
		db.migrate(t, one, two)
	})
}

// TestASchemaOfItsOwnStandsBesideAnotherProgram on PostgreSQL.
func TestASchemaOfItsOwnStandsBesideAnotherProgram(t *testing.T) {
	t.Parallel()
	db := postgresDatabase(t)
	db.exec(t, "create table jobs (theirs integer)")
	db.exec(t, "create schema stint")
	o := Options{URL: db.url + "&search_path=stint"}
	if report, err := Migrate(t.Context(), o); err != nil || len(report.Applied) != len(Expected(Postgres)) {
		t.Fatalf("%+v, %v", report, err)
	}
	if err := Verify(t.Context(), o); err != nil {
		t.Error(err)
	}
	if n := db.text(t, "select count(*) from information_schema.tables where table_schema = 'public'"); n != "1" {
		t.Errorf("%s tables stand in the other program's schema", n)
	}
}
