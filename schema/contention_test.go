package schema

import (
	"context"
	"strings"
	"testing"
	"time"
)

// occupy keeps table a in use by a transaction of somebody else.
func occupy(t *testing.T, db database) (leave func()) {
	t.Helper()
	tx, err := db.BeginTx(t.Context(), nil) // on SQLite this takes the write lock
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("select count(*) from a"); err != nil {
		t.Fatal(err)
	}
	return func() { _ = tx.Rollback() }
}

func TestALongReaderEndsTheMigrationInBoundedTime(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db database) {
		db.migrate(t, one)
		before := db.dump(t)
		leave := occupy(t, db)
		log := newRecorder("waits for a table")
		o := db.options(one, two)
		o.Log = log.log()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := Migrate(ctx, o)
		wantRefusal(t, err, CodeBusy, two.name, "3 attempts")
		log.await(t)
		leave()
		if now := db.dump(t); now != before {
			t.Errorf("changed:\n%s", now)
		}
		db.migrate(t, one, two)
	})
}

// Everybody who comes after the ALTER waits with it. Between its attempts they
// get through: a migration that asked once and waited would stop them all.
func TestWorkGoesOnBetweenTheAttempts(t *testing.T) {
	t.Parallel()
	db := postgresDatabase(t)
	db.migrate(t, one)
	leave := occupy(t, db)
	o := db.options(one, two)
	o.Attempts, o.RetryPause = 1000, time.Millisecond
	log := newRecorder("attempt=3")
	o.Log = log.log()
	done := make(chan error, 1)
	go func() {
		_, err := Migrate(t.Context(), o)
		done <- err
	}()
	log.await(t)
	db.exec(t, "insert into a values (100)")
	leave()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := db.text(t, "select b from a where id = 100"); got != "100" {
		t.Errorf("b = %s", got)
	}
}

func TestLosingTheLockAbortsTheMigration(t *testing.T) {
	t.Parallel()
	db := postgresDatabase(t)
	log := newRecorder("applying migration")
	o := db.options(slowStep)
	o.Log = log.log()
	done := make(chan error, 1)
	go func() {
		_, err := Migrate(t.Context(), o)
		done <- err
	}()
	log.await(t)
	awaitWork(t, db)
	if got := db.text(t, `select count(pg_terminate_backend(pid)) from pg_locks
		where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`); got != "1" {
		t.Fatalf("%s holders of the lock", got)
	}
	select {
	case err := <-done:
		wantRefusal(t, err, CodeLockLost)
	case <-time.After(30 * time.Second):
		t.Fatal("the migration runs on")
	}
	awaitTrue(t, func() bool {
		return db.text(t, "select count(*) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()") == "0"
	})
	if got := db.dump(t); strings.Contains(got, "a.id") || db.versions(t) != "" {
		t.Errorf("left behind:\n%s", got)
	}
}

var concurrently = step{
	name:     "0002_index.sql",
	postgres: "-- migrate:up transaction:false\n-- ItemsByB\ncreate index concurrently a_by_id on a (id);\n-- migrate:down\n",
	sqlite:   "create index a_by_id on a (id)",
}

func TestAnIndexIsBuiltConcurrently(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db database) {
		db.migrate(t, one, concurrently)
		if got := db.versions(t); got != "0001 0002 " {
			t.Errorf("versions %q", got)
		}
		if err := Verify(t.Context(), db.options(one, concurrently)); err != nil {
			t.Error(err)
		}
	})
}

func TestAnIndexWhoseBuilderWasKilledIsBuiltByTheRerun(t *testing.T) {
	t.Parallel()
	db := postgresDatabase(t)
	db.migrate(t, one)
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("insert into a values (5)"); err != nil {
		t.Fatal(err)
	}
	p := start(t, db.url, writeFiles(t, fixture(one, concurrently)), "applying migration")
	p.out.await(t)
	awaitTrue(t, func() bool { return invalid1(t, db) == "1" })
	p.kill(t)
	builders := "select count(*) from pg_stat_activity where query like '%create index concurrently%' and pid <> pg_backend_pid() and datname = current_database()"
	awaitTrue(t, func() bool { return db.text(t, builders) == "0" })
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if invalid1(t, db) != "1" {
		t.Fatal("the killed builder left no invalid index: this test shows nothing")
	}
	db.migrate(t, one, concurrently)
	if got := db.versions(t) + invalid1(t, db); got != "0001 0002 0" {
		t.Errorf("versions and invalid indexes: %q", got)
	}
}

func invalid1(t *testing.T, db database) string {
	t.Helper()
	return db.text(t, "select count(*) from pg_index where not indisvalid")
}

func TestAnIndexBuiltButNotRecordedIsRecorded(t *testing.T) {
	t.Parallel()
	db := postgresDatabase(t)
	db.migrate(t, one)
	db.exec(t, "create index concurrently a_by_id on a (id)")
	db.migrate(t, one, concurrently)
	if got := db.versions(t); got != "0001 0002 " {
		t.Errorf("versions %q", got)
	}
}

func TestAnIndexThatCannotBeBuiltStopsTheMigration(t *testing.T) {
	t.Parallel()
	db := postgresDatabase(t)
	unique := step{name: "0002_index.sql", postgres: "-- migrate:up transaction:false\n" +
		"create unique index concurrently a_twice on a ((id * 0));\n-- migrate:down\n"}
	db.migrate(t, one)
	db.exec(t, "insert into a values (2)")
	_, err := Migrate(t.Context(), db.options(one, unique, three0()))
	wantOneLine(t, err)
	if !strings.Contains(err.Error(), unique.name) || !strings.Contains(err.Error(), "a_twice") {
		t.Errorf("unclear: %v", err)
	}
	if got := db.versions(t) + invalid1(t, db); got != "0001 0" {
		t.Errorf("versions and invalid indexes: %q", got)
	}
}

func TestAnInvalidIndexIsRefusedByName(t *testing.T) {
	t.Parallel()
	db := postgresDatabase(t)
	db.migrate(t, one)
	db.exec(t, "insert into a values (2)")
	if _, err := db.Exec("create unique index concurrently a_broken on a ((id * 0))"); err == nil {
		t.Fatal("the index was built")
	}
	refused(t, db, CodeBadIndex, "a_broken", one)
	db.exec(t, "delete from a where id = 2")
	db.exec(t, "reindex index concurrently a_broken")
	db.migrate(t, one)
}

var family = step{name: "0001_family.sql", postgres: "create table parent (id bigint primary key);" +
	"create table child (id bigint primary key, parent_id bigint not null references parent (id) on delete cascade);" +
	"insert into parent values (1), (2); insert into child values (10, 1), (20, 2)"}

func TestRebuildingAParentTableKeepsItsChildren(t *testing.T) {
	t.Parallel()
	db := sqliteDatabase(t)
	rebuild := step{name: "0002_rebuild.sql", postgres: "create table parent2 (id bigint primary key, note text);" +
		"insert into parent2 select id, null from parent; drop table parent; alter table parent2 rename to parent"}
	db.migrate(t, family, rebuild)
	if got := db.text(t, "select count(*) from child"); got != "2" {
		t.Errorf("%s children are left", got)
	}
}

func TestARebuildThatLosesParentsIsRolledBack(t *testing.T) {
	t.Parallel()
	db := sqliteDatabase(t)
	db.migrate(t, family)
	before := db.dump(t)
	lossy := step{name: "0002_lossy.sql", postgres: "delete from parent where id = 2; create table extra (id bigint)"}
	_, err := Migrate(t.Context(), db.options(family, lossy))
	wantOneLine(t, err)
	if !strings.Contains(err.Error(), "foreign_key_check") || !strings.Contains(err.Error(), "child") {
		t.Errorf("unclear: %v", err)
	}
	if now := db.dump(t); now != before || db.text(t, "select count(*) from parent") != "2" {
		t.Errorf("changed:\n%s", now)
	}
}

// goneLock was lost in the moment before the commit, too late for the watch.
type goneLock struct{}

func (goneLock) alive(context.Context) error { return refuse(CodeLockLost, nil, "gone") }
func (goneLock) release()                    {}

func TestNothingIsCommittedWithoutTheLock(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db database) {
		s, err := newSession(db.options(one))
		if err != nil {
			t.Fatal(err)
		}
		wantRefusal(t, s.apply(t.Context(), goneLock{}, s.known[0]), CodeLockLost)
		if got := db.versions(t); got != "" {
			t.Errorf("versions %q", got)
		}
		db.migrate(t, one)
	})
}
