package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// scene is a migrated database and a backup of it, in a folder of its own.
type scene struct{ dir, db, file string }

func newScene(t *testing.T, engine string) scene {
	t.Helper()
	dir := t.TempDir()
	s := scene{dir: dir, db: dbtest.Whole(t, engine), file: filepath.Join(dir, "good.backup")}
	must(t, s.db, "backup", "create", s.file)
	return s
}

// write makes a file of the scene's folder.
func (s scene) write(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (s scene) read(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// newer is a backup of a database that a newer build migrated.
func (s scene) newer(t *testing.T) string {
	t.Helper()
	dbtest.Plant(t, s.db, "insert into schema_migrations (version) values ('9999')")
	defer dbtest.Plant(t, s.db, "delete from schema_migrations where version = '9999'")
	path := filepath.Join(s.dir, "newer.backup")
	must(t, s.db, "backup", "create", path)
	return path
}

// eachEngine runs fn on both engines without a server.
func eachEngine(t *testing.T, fn func(t *testing.T, engine string)) {
	t.Helper()
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			fn(t, engine)
		})
	}
}

func TestRestoreRefusesWhatIsNoSoundBackup(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, engine string) {
		s := newScene(t, engine)
		good := s.read(t)
		broken := bytes.Clone(good)
		for i := len(broken) / 2; i < len(broken)/2+4000; i++ {
			broken[i] ^= 0x55
		}
		other := map[string]string{store.SQLite: "PGDMP and more", store.Postgres: "SQLite format 3\x00"}[engine]
		wrong := map[string]string{store.SQLite: "is a backup of PostgreSQL", store.Postgres: "is a backup of SQLite"}[engine]
		for name, tt := range map[string]struct{ file, says string }{
			"nothing":          {filepath.Join(s.dir, "none"), "there is no file"},
			"a folder":         {s.dir, "is not a regular file"},
			"empty":            {s.write(t, "empty", nil), "is not a backup"},
			"text":             {s.write(t, "text", []byte("hello, this is no database at all")), "is not a backup"},
			"the other engine": {s.write(t, "other", []byte(other)), wrong},
			"truncated":        {s.write(t, "short", good[:len(good)*2/3]), "damaged"},
			"only a header":    {s.write(t, "header", good[:40]), "refused"},
			"broken":           {s.write(t, "broken", broken), "refused"},
			"newer":            {s.newer(t), "unsupported_schema: the database has version 9999"},
		} {
			to := dbtest.Empty(t, engine)
			out, stderr, code := command(t, []string{"STINT_DB=" + to}, "backup", "restore", tt.file)
			if code != 1 || out != "" || !strings.Contains(stderr, tt.says) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("%s: exit %d, %q %q; want %q", name, code, out, stderr, tt.says)
			}
			nothingAt(t, to, name)
		}
	})
}

// nothingAt fails if a refused restore left anything of a database.
func nothingAt(t *testing.T, url, what string) {
	t.Helper()
	if path, lite := strings.CutPrefix(url, "sqlite:"); lite {
		if left, _ := filepath.Glob(filepath.Dir(path) + "/*"); len(left) > 0 {
			t.Errorf("%s: left behind: %v", what, left)
		}
		if left, _ := filepath.Glob(filepath.Dir(path) + "/.*partial*"); len(left) > 0 {
			t.Errorf("%s: left behind: %v", what, left)
		}
		return
	}
	s := dbtest.Open(t, store.Config{URL: url})
	if n := dbtest.Get[int](t, s, "select count(*) from pg_class where relnamespace = to_regnamespace('public')"); n > 0 {
		t.Errorf("%s: %d relations left behind", what, n)
	}
}

func TestBackupAndRestoreReplaceNothing(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, engine string) {
		s := newScene(t, engine)
		kept := s.read(t)
		_, stderr, code := command(t, []string{"STINT_DB=" + s.db}, "backup", "create", s.file)
		if code != 1 || !strings.Contains(stderr, "good.backup exists: a backup replaces nothing") || !bytes.Equal(kept, s.read(t)) {
			t.Errorf("create: exit %d %q", code, stderr)
		}
		_, stderr, code = command(t, []string{"STINT_DB=" + s.db}, "backup", "restore", s.file)
		says := map[string]string{store.SQLite: "stint.db exists: stop the server", store.Postgres: "has the tables checkpoints, connection_devices"}[engine]
		if code != 1 || !strings.Contains(stderr, says) {
			t.Errorf("restore: exit %d %q", code, stderr)
		}
		_, stderr, code = command(t, nil, "backup", "create", "--db", s.db)
		if code != 2 {
			t.Errorf("without a file: exit %d %q", code, stderr)
		}
	})
}

func TestBackupRefusesWhatIsNoStintDatabase(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, engine string) {
		url := dbtest.Empty(t, engine)
		if engine == store.SQLite {
			dbtest.SQL(t, dbtest.Open(t, store.Config{URL: url}), "create table t (a integer)")
		}
		file := filepath.Join(t.TempDir(), "b")
		_, stderr, code := command(t, []string{"STINT_DB=" + url}, "backup", "create", file)
		if code != 1 || !strings.Contains(stderr, "it holds no Stint database") {
			t.Errorf("exit %d %q", code, stderr)
		}
		onlyThere(t, filepath.Dir(file))
	})
	dir := t.TempDir()
	_, stderr, code := command(t, []string{"STINT_DB=sqlite:" + dir + "/none.db"}, "backup", "create", dir+"/b")
	if code != 1 || !strings.Contains(stderr, "there is no database") {
		t.Errorf("exit %d %q", code, stderr)
	}
	onlyThere(t, dir)
	_, stderr, code = command(t, []string{"STINT_DB=postgres://u:s3cret@127.0.0.1:1/db"}, "backup", "create", dir+"/b")
	if code != 75 || !strings.Contains(stderr, "cannot be reached") || strings.Contains(stderr, "s3cret") {
		t.Errorf("exit %d %q", code, stderr)
	}
}

// onlyThere fails unless a folder holds these names and no others.
func onlyThere(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var there []string
	for _, e := range entries {
		there = append(there, e.Name())
	}
	if fmt.Sprint(there) != fmt.Sprint(names) {
		t.Errorf("%s holds %v, want %v", dir, there, names)
	}
}

// A file that cannot grow is what a full disk is to a program.
func TestFullDiskLeavesNothing(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, engine string) {
		s := newScene(t, engine)
		limited := func(db string, args string) (string, int) {
			cmd := exec.Command("sh", "-c", "ulimit -f 16; exec stint backup "+args) // 8 or 16 KiB
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "STINT_DB=" + db}
			out, _ := cmd.CombinedOutput()
			return string(out), cmd.ProcessState.ExitCode()
		}
		dir := t.TempDir()
		if out, code := limited(s.db, "create "+dir+"/b"); code != 1 || strings.Count(out, "\n") != 1 {
			t.Errorf("create: exit %d %q", code, out)
		}
		onlyThere(t, dir)
		if engine == store.SQLite { // on PostgreSQL it is the server's disk
			out, code := limited("sqlite:"+dir+"/r.db", "restore "+s.file)
			if code != 1 || !strings.Contains(out, "file too large") {
				t.Errorf("restore: exit %d %q", code, out)
			}
			onlyThere(t, dir)
		}
	})
}

// slowed makes a backup of a database take its time: an SQLite file is large, on
// PostgreSQL a table is locked until release.
func slowed(t *testing.T, engine, url string) (release func()) {
	t.Helper()
	if engine == store.SQLite {
		dbtest.Plant(t, url, `insert into meta (key, value) select 'k' || i, hex(zeroblob(50000)) from
			(with recursive c(i) as (select 1 union all select i + 1 from c where i < 250) select i from c)`)
		return func() {}
	}
	tx, err := dbtest.Connect(t, url).Begin()
	if err == nil {
		_, err = tx.Exec("lock table meta in access exclusive mode")
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
}

// The kill meets the copying. What it leaves the next one removes, but not what
// another process is writing.
func TestKilledBackupLeavesNoFileUnderItsName(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, engine string) {
		url := dbtest.Whole(t, engine)
		release := slowed(t, engine, url)
		file := filepath.Join(t.TempDir(), "b")
		held := filepath.Dir(file) + "/.b.1.partial"
		defer holdFolder(t, held)()
		p := spawn(t, []string{"PATH=" + os.Getenv("PATH"), "STINT_DB=" + url}, "stint", "backup", "create", file)
		apitest.Await(t, "a backup in the making", func() bool {
			found, _ := filepath.Glob(filepath.Dir(file) + "/.b.*.partial/file")
			return len(found) > 0
		})
		p.kill()
		release()
		if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
			t.Fatalf("the backup had ended already: %s", p.out)
		}
		if _, err := os.Lstat(file); !os.IsNotExist(err) {
			t.Errorf("a killed backup left its file: %v", err)
		}
		own := filepath.Dir(file) + "/.b.2.partial"
		if err := errors.Join(os.Mkdir(own, 0o700), os.WriteFile(own+"/notes", nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		must(t, url, "backup", "create", file)
		onlyThere(t, filepath.Dir(file), filepath.Base(held), filepath.Base(own), "b")
		onlyThere(t, own, "notes")
	})
}

// holdFolder makes a folder and holds it as a backup at work does.
func holdFolder(t *testing.T, name string) (release func()) {
	t.Helper()
	if err := os.Mkdir(name, 0o700); err != nil {
		t.Fatal(err)
	}
	dir, err := os.Open(name)
	if err == nil {
		err = syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() { dir.Close() }
}

func TestMissingProgramsAreNamed(t *testing.T) {
	t.Parallel()
	s := newScene(t, store.Postgres)
	none := []string{"STINT_DB=" + s.db, "STINT_POSTGRES_BIN=" + t.TempDir()}
	for _, args := range [][]string{{"backup", "create", s.dir + "/b"}, {"backup", "restore", s.file}} {
		_, stderr, code := command(t, none, args...)
		if code != 1 || !strings.Contains(stderr, "apt-get install postgresql-client-") {
			t.Errorf("%v: exit %d %q", args, code, stderr)
		}
	}
	old := t.TempDir()
	if err := os.WriteFile(old+"/pg_dump", []byte("#!/bin/sh\necho 'pg_dump (PostgreSQL) 9.6'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := command(t, []string{"STINT_DB=" + s.db, "STINT_POSTGRES_BIN=" + old}, "backup", "create", s.dir+"/b")
	if code != 1 || !strings.Contains(stderr, "is of PostgreSQL 9, and the server is") {
		t.Errorf("exit %d %q", code, stderr)
	}
}
