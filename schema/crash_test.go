package schema

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// story is five migrations with data changes whose end shows every step that
// ran twice, or half: rows double, sums differ, or it fails.
var story = []step{
	{name: "0001_items.sql", postgres: "create table items (id bigint primary key, v bigint not null);" +
		series("insert into items", "n, n", "true")},
	{name: "0002_double.sql", postgres: "alter table items add column w bigint null; update items set w = v * 2, v = v + 1"},
	{name: "0003_log.sql", postgres: "create table log (v bigint not null); insert into log select v from items"},
	{name: "0004_rebuild.sql", postgres: "create table items2 (id bigint primary key, v bigint not null, w bigint not null);" +
		"insert into items2 select id, v, w from items; drop table items; alter table items2 rename to items"},
	{name: "0005_more.sql", postgres: "update items set v = v + w;" + series("insert into log", "n", "n <= 100")},
}

const storyEnd = "select (select count(*) from items) || ' ' || (select sum(v) from items) || ' ' || (select count(*) || ' ' || sum(v) from log)"

// 2000 rows: v = n + 1 + 2n; the log has n + 1 for each and then 1..100.
var storyWant = fmt.Sprintf("%d %d %d %d", 2000, 3*2001000+2000, 2100, 2001000+2000+5050)

func series(insert, columns, where string) string {
	return insert + " with recursive s(n) as (select 1 union all select n + 1 from s where n < 2000) select " + columns + " from s where " + where
}

func wantStoryOnce(t *testing.T, db database) {
	t.Helper()
	if got := db.versions(t); got != "0001 0002 0003 0004 0005 " {
		t.Errorf("versions %q", got)
	}
	if got := db.text(t, storyEnd); got != storyWant {
		t.Errorf("rows %q, want %q", got, storyWant)
	}
}

// race starts five processes at once and wants all of them to end well, with
// each migration applied by exactly one.
func race(t *testing.T, url, files string, migrations int) {
	t.Helper()
	var started []*process
	for range 5 {
		started = append(started, start(t, url, files, "applied migration"))
	}
	applied := 0
	for _, p := range started {
		if err := p.Wait(); err != nil {
			t.Errorf("%v: %s", err, p.err.String())
		}
		applied += strings.Count(p.out.String(), "applied migration")
	}
	if applied != migrations {
		t.Errorf("%d migrations applied, want %d", applied, migrations)
	}
}

func TestFiveProcessesMigrateAnEmptyDatabaseAtOnce(t *testing.T) {
	t.Parallel()
	files := writeFiles(t, fixture(story...))
	each(t, func(t *testing.T, db database) {
		race(t, db.url, files, 5)
		wantStoryOnce(t, db)
	})
}

func TestFiveProcessesApplyOnePendingMigration(t *testing.T) {
	t.Parallel()
	files := writeFiles(t, fixture(story...))
	each(t, func(t *testing.T, db database) {
		db.migrate(t, story[:4]...)
		race(t, db.url, files, 1)
		wantStoryOnce(t, db)
	})
}

func TestFiveProcessesMakeTheDatabaseItself(t *testing.T) {
	t.Parallel()
	files := writeFiles(t, fixture(story...))
	url := serverURL(t, databaseName(t))
	race(t, url, files, 5)
	wantStoryOnce(t, open(t, Postgres, url, "pgx", url))
}

func TestWaitingForTheLockIsLogged(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db database) {
		s, err := newSession(db.options(one))
		if err != nil {
			t.Fatal(err)
		}
		l, err := s.eng.lock(t.Context(), func(time.Duration) {})
		if err != nil {
			t.Fatal(err)
		}
		p := start(t, db.url, writeFiles(t, fixture(one)), "waiting for another process")
		p.out.await(t)
		l.release()
		if err := p.Wait(); err != nil {
			t.Errorf("%v: %s", err, p.err.String())
		}
		if got := db.versions(t); got != "0001 " {
			t.Errorf("versions %q", got)
		}
	})
}

func TestKilledInsideAMigrationTheRerunCompletes(t *testing.T) {
	t.Parallel()
	slow := slowStep
	slow.name = two.name
	slow.postgres = strings.ReplaceAll(slow.postgres, "table a", "table b")
	slow.sqlite = strings.NewReplacer("table a", "table b", "into a", "into b").Replace(slow.sqlite)
	each(t, func(t *testing.T, db database) {
		p := start(t, db.url, writeFiles(t, fixture(one, slow)), "applying migration\" name=0002")
		p.out.await(t)
		awaitWork(t, db)
		p.kill(t)
		o := db.options(one, step{name: two.name, postgres: "create table b (id bigint)"})
		o.Attempts, o.LockTimeout = 20, time.Second
		if _, err := Migrate(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if got := db.versions(t); got != "0001 0002 " {
			t.Errorf("versions %q", got)
		}
	})
}

// awaitWork returns when the other process is inside its transaction.
func awaitWork(t *testing.T, db database) {
	t.Helper()
	awaitTrue(t, func() bool {
		if db.engine == Postgres {
			return db.text(t, "select count(*) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()") == "1"
		}
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		tx, err := db.BeginTx(ctx, nil)
		if err == nil {
			_ = tx.Rollback()
		}
		return err != nil
	})
}

func awaitTrue(t *testing.T, is func() bool) {
	t.Helper()
	err := poll(t.Context(), func(since time.Duration) {
		if since > 25*time.Second {
			t.Fatal("it did not come true")
		}
	}, func() (bool, error) { return is(), nil })
	if err != nil {
		t.Fatal(err)
	}
}

func TestKilledAtAnyMomentTheRerunCompletes(t *testing.T) {
	t.Parallel()
	killMigrations(t, 4)
}

// killMigrations kills a process that migrates at random moments, that many
// times on each engine. It takes its moments from a seed that it prints.
func killMigrations(t *testing.T, rounds int) {
	t.Helper()
	files := writeFiles(t, fixture(story...))
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, engine := range []string{SQLite, Postgres} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 0))
			for range rounds {
				db := newDatabase(t, engine)
				killOnce(t, db, files, random)
				if err := rerun(t, db, files); err != nil {
					t.Fatal(err)
				}
				wantStoryOnce(t, db)
			}
		})
	}
}

func newDatabase(t *testing.T, engine string) database {
	t.Helper()
	if engine == SQLite {
		return sqliteDatabase(t)
	}
	return postgresDatabase(t)
}

// killOnce waits for one of the log's lines and then for a moment more.
func killOnce(t *testing.T, db database, files string, random *rand.Rand) {
	t.Helper()
	p := start(t, db.url, files, fmt.Sprintf("applying migration\" name=000%d", 1+random.IntN(5)))
	p.out.await(t)
	_ = wait(t.Context(), time.Duration(random.IntN(20_000))*time.Microsecond)
	p.kill(t)
}

func rerun(t *testing.T, db database, files string) error {
	p := start(t, db.url, files, "")
	if err := p.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, p.err.String())
	}
	return nil
}
