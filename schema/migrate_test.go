package schema

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMigrateAppliesWhatIsPendingInOrder(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db database) {
		if got := db.migrate(t, one, two).Applied; len(got) != 2 || got[0].Version != "0001" || got[1].Name != "0002_two.sql" {
			t.Errorf("applied %+v", got)
		}
		if got := db.migrate(t, one, two, three).Applied; len(got) != 1 || got[0].Version != "0003" {
			t.Errorf("then applied %+v", got)
		}
		if got := db.text(t, "select count(*) || ' ' || max(b) from a"); got != "2 2" {
			t.Errorf("rows of a: %s", got)
		}
	})
}

func TestMigrateTwiceIsANoOp(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db database) {
		db.migrate(t, one, two)
		before := db.dump(t)
		if report := db.migrate(t, one, two); len(report.Applied)+len(report.Adopted) != 0 {
			t.Errorf("second run: %+v", report)
		}
		if diff := cmp.Diff(before, db.dump(t)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestEachVersionIsRecordedWithTheChecksumOfItsFile(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db database) {
		db.migrate(t, one)
		want := Checksum(migrationFile(one.postgres).Data)
		if got := db.text(t, "select checksum from schema_migrations where version = '0001'"); got != want {
			t.Errorf("checksum %s, want %s", got, want)
		}
	})
}

func TestAFailingMigrationLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	bad := step{name: "0002_bad.sql", postgres: "create table gone (x bigint);\ninsert into a values (7);\ninsert into nowhere values (1)"}
	each(t, func(t *testing.T, db database) {
		db.migrate(t, one)
		before := db.dump(t)
		_, err := Migrate(t.Context(), db.options(one, bad, three))
		wantOneLine(t, err)
		if !strings.Contains(err.Error(), "0002_bad.sql") || !strings.Contains(err.Error(), "nowhere") {
			t.Errorf("unclear: %v", err)
		}
		if db.engine == Postgres && !strings.Contains(err.Error(), "line 4") {
			t.Errorf("the line is missing: %v", err)
		}
		if diff := cmp.Diff(before, db.dump(t)); diff != "" {
			t.Error(diff)
		}
		if n := db.text(t, "select count(*) from a"); n != "1" {
			t.Errorf("%s rows in a", n)
		}
		db.migrate(t, one, two, three)
	})
}

func TestVersionsOfABareDbmateAreAdopted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db database) {
		db.exec(t, "create table schema_migrations (version varchar(128) primary key)")
		db.exec(t, "insert into schema_migrations values ('0001')")
		db.exec(t, one.postgres)
		report := db.migrate(t, one, two)
		if diff := cmp.Diff([]string{one.name}, report.Adopted); diff != "" {
			t.Error(diff)
		}
		if got := db.text(t, "select count(checksum) from schema_migrations"); got != "2" {
			t.Errorf("%s checksums", got)
		}
		edited := step{name: one.name, postgres: one.postgres + " "}
		_, err := Migrate(t.Context(), db.options(edited, two))
		wantRefusal(t, err, CodeEdited, one.name)
	})
}

func TestOffAppliesNothingAndVerifyRefusesPending(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db database) {
		db.migrate(t, one)
		before := db.dump(t)
		o := db.options(one, two)
		o.Mode = Off
		report, err := Migrate(t.Context(), o)
		if err != nil || !slices.Equal(report.Pending, []string{two.name}) {
			t.Errorf("off: %+v, %v", report, err)
		}
		o.Mode = VerifyOnly
		_, err = Migrate(t.Context(), o)
		wantRefusal(t, err, CodePending, two.name, "stint migrate up")
		wantRefusal(t, Verify(t.Context(), o), CodePending, two.name)
		if err := Verify(t.Context(), db.options(one)); err != nil {
			t.Errorf("verify of a current database: %v", err)
		}
		if diff := cmp.Diff(before, db.dump(t)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestStatusAndPlanChangeNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db database) {
		db.migrate(t, one)
		before := db.dump(t)
		status, err := Status(t.Context(), db.options(one, two))
		if err != nil {
			t.Fatal(err)
		}
		want := []Version{{"0001", one.name, StateApplied}, {"0002", two.name, StatePending}}
		if diff := cmp.Diff(want, status); diff != "" {
			t.Error(diff)
		}
		plan, err := Plan(t.Context(), db.options(one, two))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]Step{{"0002", two.name, two.postgres + ";", true}}, plan); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(before, db.dump(t)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestStatusShowsWhatIsWrong(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db database) {
		db.migrate(t, one, three0())
		db.exec(t, "insert into schema_migrations (version) values ('20990101000000')")
		edited := step{name: one.name, postgres: one.postgres + " -- a word"}
		status, err := Status(t.Context(), db.options(edited, two, three0()))
		if err != nil {
			t.Fatal(err)
		}
		want := []Version{
			{"0001", one.name, StateEdited}, {"0002", two.name, StateOutOfOrder},
			{"0003", three.name, StateApplied}, {"20990101000000", "", StateUnknown},
		}
		if diff := cmp.Diff(want, status); diff != "" {
			t.Error(diff)
		}
	})
}

// three0 needs nothing of two.
func three0() step { return step{name: three.name, postgres: "create table c (id bigint)"} }

func TestStatusOfADatabaseThatIsNotThere(t *testing.T) {
	t.Parallel()
	db := database{engine: SQLite, url: "sqlite:" + t.TempDir() + "/none.db"}
	status, err := Status(t.Context(), db.options(one))
	if err != nil || len(status) != 1 || status[0].State != StatePending {
		t.Errorf("sqlite: %v, %v", status, err)
	}
	db.url = "sqlite:" + t.TempDir() + "/none/none.db"
	_, err = Status(t.Context(), db.options(one))
	_, planned := Plan(t.Context(), db.options(one))
	for _, err := range []error{err, planned, Verify(t.Context(), db.options(one))} {
		if err == nil || !strings.HasSuffix(err.Error(), "/none does not exist") {
			t.Errorf("without the directory: %v", err)
		}
	}
	_, err = Status(t.Context(), Options{URL: serverURL(t, databaseName(t))})
	wantOneLine(t, err)
}

func TestReadinessSeesPendingAndAhead(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db database) {
		expected := Expected(db.engine)
		gap, err := Pending(t.Context(), db.engine, db)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(Gap{Pending: expected}, gap); diff != "" {
			t.Errorf("empty database: %s", diff)
		}
		db.exec(t, "create table schema_migrations (version text primary key, checksum text null)")
		for _, v := range expected {
			db.exec(t, "insert into schema_migrations (version) values ('"+v+"')")
		}
		db.exec(t, "insert into schema_migrations (version) values ('9999')")
		if gap, err = Pending(t.Context(), db.engine, db); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(Gap{Ahead: []string{"9999"}}, gap); diff != "" {
			t.Errorf("newer database: %s", diff)
		}
	})
}

func TestACanceledMigrationStopsAndCanBeRepeated(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db database) {
		ctx, cancel := context.WithCancel(t.Context())
		log := newRecorder("applying migration")
		o := db.options(slowStep)
		o.Log = log.log()
		done := make(chan error, 1)
		go func() {
			_, err := Migrate(ctx, o)
			done <- err
		}()
		log.await(t)
		cancel()
		select {
		case err := <-done:
			if err == nil {
				t.Error("no error")
			}
		case <-time.After(20 * time.Second):
			t.Fatal("the migration runs on")
		}
		db.migrate(t, step{name: slowStep.name, postgres: one.postgres})
	})
}

// slowStep takes minutes unless somebody stops it.
var slowStep = step{
	name:     "0001_one.sql",
	postgres: "create table a (id bigint primary key); select pg_sleep(300)",
	sqlite: "create table a (id bigint primary key); insert into a with recursive n(i) as " +
		"(select 1 union all select i + 1 from n where i < 3000000000) select count(*) from n",
}

// What the URL says of the pool is nobody's business but the store's.
func TestPoolSettingsInTheURLAreNotSentToTheServer(t *testing.T) {
	t.Parallel()
	db := postgresDatabase(t)
	if _, err := Migrate(t.Context(), Options{URL: db.url + "&pool_max_conns=3"}); err != nil {
		t.Error(err)
	}
}
