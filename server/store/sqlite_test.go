package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

// SQ-01 (short form): transactions that read first and write then, in parallel.
func TestParallelReadThenWriteNeverFindsSQLiteLocked(t *testing.T) {
	t.Parallel()
	s := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.SQLite)})
	ctx, owner := t.Context(), dbtest.Owner(t, s, "ada")
	var wg sync.WaitGroup
	for worker := range 16 {
		wg.Go(func() {
			for i := range 20 {
				hash := fmt.Sprintf("%d-%d", worker, i)
				err := s.Tx(ctx, func(q model.Querier) error {
					if _, err := q.TokenGetByHash(ctx, model.TokenGetByHashParams{Hash: hash}); !store.NotFound(err) {
						return fmt.Errorf("found %s: %w", hash, err)
					}
					return q.TokenInsert(ctx, token(owner, "tok_"+hash, hash))
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := dbtest.Get[int](t, s, "select count(*) from tokens"); n != 320 {
		t.Errorf("%d rows stand, want 320", n)
	}
}

// SQ-04: every connection of both pools has every setting.
func TestSettingsHoldOnEveryConnectionOfSQLite(t *testing.T) {
	t.Parallel()
	for durability, synchronous := range map[store.Durability]string{"": "2", store.Full: "2", store.Normal: "1"} {
		writer, readers := store.ConnsForTest(t, store.Config{URL: dbtest.Whole(t, store.SQLite), Durability: durability, Readers: 3})
		if len(readers) != 3 {
			t.Fatalf("%d readers, want 3", len(readers))
		}
		for pragma, want := range map[string]string{"synchronous": synchronous, "query_only": "0", "journal_size_limit": "4194304"} {
			if got := writer(pragma); got != want {
				t.Errorf("writer: %s is %s, want %s", pragma, got, want)
			}
		}
		for _, conn := range append(readers, writer) {
			for pragma, want := range map[string]string{"foreign_keys": "1", "journal_mode": "wal", "busy_timeout": "5000"} {
				if got := conn(pragma); got != want {
					t.Errorf("%s is %s, want %s", pragma, got, want)
				}
			}
		}
		for _, reader := range readers {
			if got := reader("query_only"); got != "1" {
				t.Errorf("reader: query_only is %s, want 1", got)
			}
		}
	}
}

func TestForeignKeysHoldInParallel(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				in := token(model.Owner{ID: "own_unknown"}, fmt.Sprint("tok_", i), fmt.Sprint(i))
				if err := s.Tx(ctx, func(q model.Querier) error { return q.TokenInsert(ctx, in) }); err == nil {
					t.Error("a token of an unknown owner was kept")
				}
			})
		}
		wg.Wait()
	})
}

// SQ-05 (short form): a reader that is always there lets the log grow; once it
// is gone, one pass cuts the log back.
func TestLogOfSQLiteIsCutBackOnceAReaderLetsGo(t *testing.T) {
	t.Parallel()
	s := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.SQLite), Durability: store.Normal})
	ctx := t.Context()
	rows, err := dbtest.DB(t, s).QueryContext(ctx, "select name from sqlite_schema")
	if err != nil || !rows.Next() {
		t.Fatal(err)
	}
	value := strings.Repeat("x", 1<<20)
	for i := range 12 {
		err := s.Tx(ctx, func(q model.Querier) error { return setMeta(ctx, q, fmt.Sprint("big-", i), value) })
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Maintain(ctx); err != nil {
		t.Errorf("a pass beside a reader: %v", err)
	}
	if size := s.Pool().LogBytes; size < 12<<20 {
		t.Errorf("the log has %d bytes beside a reader: the test shows nothing", size)
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Maintain(ctx); err != nil {
		t.Fatal(err)
	}
	if size := s.Pool().LogBytes; size > 4<<20 {
		t.Errorf("the log still has %d bytes", size)
	}
	metaIs(t, s, "big-11", value)
}

// The writer is waited for, but not for ever.
func TestWaitForTheWriterIsBounded(t *testing.T) {
	t.Parallel()
	s := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.SQLite), Waits: store.Waits{Writer: shortWait}})
	ctx := t.Context()
	err := s.Tx(ctx, func(model.Querier) error {
		start := time.Now()
		isFault(t, write(ctx, s, "second"), "unavailable")
		if took := time.Since(start); took < shortWait || took > 30*time.Second {
			t.Errorf("the second writer waited %v, want %v", took, shortWait)
		}
		hasty, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		isFault(t, write(hasty, s, "third"), "unavailable")
		metaIs(t, s, "second", "") // a reader waits for nobody
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Another process writes: its lock is waited for within the same bound.
func TestWaitForAnotherProcessIsBounded(t *testing.T) {
	t.Parallel()
	s := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.SQLite), Waits: store.Waits{Writer: shortWait}})
	ctx := t.Context()
	tx, err := dbtest.DB(t, s).BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	isFault(t, write(ctx, s, "key"), "unavailable")
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("the writer waited %v, want %v", took, shortWait)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := write(ctx, s, "key"); err != nil {
		t.Error(err)
	}
}

func TestReadersCannotWrite(t *testing.T) {
	t.Parallel()
	c := store.Config{URL: dbtest.Whole(t, store.SQLite)}
	_, err := store.ReadForTest(t, c, "insert into meta (key, value) values ('k', 'v') returning value", func(*store.Store) {})
	if err == nil {
		t.Error("a reading connection wrote")
	}
	metaIs(t, dbtest.Open(t, c), "k", "")
}

func TestOddFileNamesAreTakenLiterally(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a b.db", "50%.db", "what?.db", "#1.db", "a%20b.db", "ä&b=c;d.db", "file:x", "?mode=ro", "'q'.db"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, name)
			s := dbtest.Open(t, store.Config{URL: "sqlite:" + path})
			if err := s.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
			files, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				if !strings.HasPrefix(file.Name(), name) {
					t.Errorf("%q was made beside %q", file.Name(), name)
				}
				if info, err := file.Info(); err == nil && info.Mode().Perm() != 0o600 {
					t.Errorf("%q has mode %v, want 0600", file.Name(), info.Mode())
				}
			}
		})
	}
}

func TestPathThatIsNoFileIsExplained(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for path, want := range map[string]string{dir: "is a directory", dir + "/no/x.db": "does not exist"} {
		_, err := store.Open(t.Context(), store.Config{URL: "sqlite:" + path})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q in it", path, err, want)
		}
	}
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(t.Context(), store.Config{URL: "sqlite:" + text}); err == nil {
		t.Error("a text file was opened")
	}
}

// SQ-09: a value of another type, out of range, or null where none may be, is
// refused on both engines alike.
func TestBothEnginesRefuseTheSameValues(t *testing.T) {
	t.Parallel()
	const insert = `insert into job_kinds (owner_id, name, lease_seconds, max_attempts, backoff_base_seconds,
		backoff_cap_seconds, version, created_at, updated_at)
		select id, 'k', %s, 5, 5, 3600, 1, created_at, created_at from owners`
	const repo = `insert into repos (id, owner_id, forge, host, namespace, name, created_at, updated_at)
		select 'repo_1', id, %s, 'h', 'n', 'r', created_at, created_at from owners`
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		dbtest.Owner(t, s, "ada")
		db := dbtest.DB(t, s)
		for _, statement := range []string{
			fmt.Sprintf(insert, "'abc'"), fmt.Sprintf(insert, "9223372036854775808"),
			fmt.Sprintf(insert, "null"), fmt.Sprintf(insert, "9"),
			fmt.Sprintf(repo, "null"), fmt.Sprintf(repo, "'git_hub'"), fmt.Sprintf(repo, "''"),
		} {
			if _, err := db.ExecContext(t.Context(), statement); err == nil {
				t.Errorf("taken: %s", statement)
			}
		}
		for _, statement := range []string{fmt.Sprintf(insert, "60"), fmt.Sprintf(repo, "'github'")} {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Errorf("refused: %s: %v", statement, err)
			}
		}
	})
}

func TestARemovedDatabaseFileIsNotWrittenOn(t *testing.T) {
	t.Parallel()
	url := dbtest.Whole(t, store.SQLite)
	s := dbtest.Open(t, store.Config{URL: url})
	write := func(q model.Querier) error {
		_, err := q.MetaInsert(t.Context(), model.MetaInsertParams{Key: "k", Value: "v"})
		return err
	}
	path, err := store.SQLitePath(url)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	var f *fault.Fault
	if err := s.Tx(t.Context(), write); !errors.As(err, &f) || f.Status != 503 {
		t.Errorf("a write to a removed file: %v", err)
	}
	if err := s.Ping(t.Context()); err == nil {
		t.Error("the store is ready without its file")
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Ping(t.Context()), s.Tx(t.Context(), write)); err != nil {
		t.Errorf("with the file back: %v", err)
	}
}
