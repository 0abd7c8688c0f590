package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/store/backup"
)

// lastLine is the length of the line with the checksum.
const lastLine = 128

// pgRestore runs pg_restore of the installation that stint would use.
func pgRestore(t *testing.T, args ...string) string {
	t.Helper()
	dir := os.Getenv("STINT_POSTGRES_BIN")
	if dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin"); dir == "" && len(dirs) > 0 {
		dir = dirs[len(dirs)-1]
	}
	out, err := exec.Command(filepath.Join(dir, "pg_restore"), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("pg_restore %v: %v: %s", args, err, out)
	}
	return string(out)
}

// TestOneFlippedBitIsFound wherever it is: verify finds it, and restore refuses
// the file before it makes anything.
func TestOneFlippedBitIsFound(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, engine string) {
		s := newScene(t, engine)
		good := s.read(t)
		bits := make([]int, 0, 1500)
		for bit := range lastLine * 8 {
			bits = append(bits, len(good)*8-1-bit)
		}
		for range 300 {
			bits = append(bits, rand.IntN(len(good)*8))
		}
		flipped := filepath.Join(s.dir, "flipped")
		for i, bit := range bits {
			bad := slices.Clone(good)
			bad[bit/8] ^= 1 << (bit % 8)
			s.write(t, "flipped", bad)
			if v, err := backup.Verify(t.Context(), backup.Options{File: flipped}); err == nil {
				t.Errorf("bit %d of %d: verified: %+v", bit, len(good)*8, v)
			}
			if i != 0 && i != lastLine*8 {
				continue
			}
			to := dbtest.Empty(t, engine)
			if _, stderr, code := command(t, []string{"STINT_DB=" + to}, "backup", "restore", flipped); code != 1 || !strings.Contains(stderr, "the backup is damaged") {
				t.Errorf("bit %d of %d: restore: exit %d %q", bit, len(good)*8, code, stderr)
			}
			nothingAt(t, to, "a flipped bit")
		}
	})
}

func TestVerifyNeedsNoDatabase(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, engine string) {
		s := newScene(t, engine)
		good := s.read(t)
		var v backup.Verified
		out, stderr, code := command(t, []string{"STINT_POSTGRES_BIN=/nowhere"}, "backup", "verify", s.file, "-o", "json")
		if err := json.Unmarshal([]byte(out), &v); err != nil || code != 0 || stderr != "" {
			t.Fatalf("exit %d %q %q", code, out, stderr)
		}
		want := backup.Verified{Engine: engine, File: s.file, Bytes: int64(len(good)), SHA256: string(good[len(good)-107 : len(good)-43])}
		if v != want {
			t.Errorf("got %+v, want %+v", v, want)
		}
		sum := exec.Command("sh", "-c", "head -c -128 "+s.file+" | sha256sum") // as the docs say
		if out, err := sum.Output(); err != nil || !strings.HasPrefix(string(out), v.SHA256) {
			t.Errorf("%s, %v; want %s", out, err, v.SHA256)
		}
		for name, tt := range map[string]struct {
			text []byte
			says string
		}{
			"cut in the line":      {good[:len(good)-1], "the backup is damaged"},
			"more behind the line": {append(slices.Clone(good), 0), "the backup is damaged"},
			"cut before the line":  {slices.Concat(good[:len(good)-lastLine-100], good[len(good)-lastLine:]), "the backup is damaged"},
			"cut":                  {good[:len(good)/2], "it has no checksum"},
			"empty":                {nil, "is not a backup"},
			"something else":       {[]byte("hello"), "is not a backup"},
		} {
			_, stderr, code := command(t, nil, "backup", "verify", s.write(t, "bad", tt.text))
			if code != 1 || !strings.Contains(stderr, tt.says) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("%s: exit %d %q", name, code, stderr)
			}
		}
	})
}

// TestABackupOfAReleaseBeforeIsRestored, with a warning: it has no checksum.
func TestABackupOfAReleaseBeforeIsRestored(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, engine string) {
		s := newScene(t, engine)
		good := s.read(t)
		old, to := s.write(t, "old", good[:len(good)-lastLine]), dbtest.Empty(t, engine)
		out, stderr, code := command(t, []string{"STINT_DB=" + to}, "backup", "restore", old, "-o", "json")
		var r backup.Report
		if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 || r.SHA256 != nil || len(r.Warnings) != 1 {
			t.Errorf("exit %d %q", code, out)
		}
		if !strings.Contains(stderr, "warning: "+old+" has no checksum") {
			t.Errorf("it says %q", stderr)
		}
		must(t, to, "migrate", "verify")
		if _, stderr, code := command(t, nil, "backup", "verify", old); code != 1 || !strings.Contains(stderr, "it has no checksum") {
			t.Errorf("verify: exit %d %q", code, stderr)
		}
	})
}

// TestOtherProgramsReadABackup as it is, its checksum included, and can use it.
func TestOtherProgramsReadABackup(t *testing.T) {
	t.Parallel()
	lite := newScene(t, store.SQLite)
	before := everyRow(t, lite.db)
	dbtest.Plant(t, "sqlite:"+lite.file, "create table more (text text)")
	dbtest.Plant(t, "sqlite:"+lite.file, "insert into more select hex(randomblob(5000)) from sqlite_schema")
	s := dbtest.Open(t, store.Config{URL: "sqlite:" + lite.file})
	if got := dbtest.Get[string](t, s, "pragma integrity_check"); got != "ok" {
		t.Error(got)
	}
	after := everyRow(t, "sqlite:"+lite.file)
	if delete(after, "more"); len(before) == 0 || len(before) != len(after) {
		t.Errorf("%d tables, %d after", len(before), len(after))
	}
	pg, to := newScene(t, store.Postgres), dbtest.Empty(t, store.Postgres)
	dbtest.Plant(t, to, "drop schema public")
	pgRestore(t, "--exit-on-error", "--single-transaction", "--no-owner", "--dbname="+to, pg.file)
	must(t, to, "migrate", "verify")
	if text := pg.read(t); !bytes.HasPrefix(text, []byte("PGDMP")) {
		t.Errorf("it begins with %q", text[:20])
	}
}

// TestProgramsOfAnotherMajorAreNamed: those of a newer one work, and leave a
// backup that older ones may not read.
func TestProgramsOfAnotherMajorAreNamed(t *testing.T) {
	t.Parallel()
	s := newScene(t, store.Postgres)
	newer := filepath.Join(s.dir, "bin")
	if err := os.Mkdir(newer, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pg_dump", "pg_restore"} {
		real := strings.TrimSpace(shell(t, "ls /usr/lib/postgresql/*/bin/"+name+" ${STINT_POSTGRES_BIN:-/nowhere}/"+name+" 2>/dev/null | tail -1"))
		s.write(t, "bin/"+name, []byte("#!/bin/sh\n[ \"$1\" = --version ] && echo '"+name+" (PostgreSQL) 99.1' && exit\nexec "+real+" \"$@\"\n"))
		if err := os.Chmod(filepath.Join(newer, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	_, stderr, code := command(t, []string{"STINT_DB=" + s.db, "STINT_POSTGRES_BIN=" + newer}, "backup", "create", s.dir+"/b")
	if code != 0 || !strings.Contains(stderr, "warning: pg_dump is of PostgreSQL 99 and the server of ") {
		t.Errorf("exit %d %q", code, stderr)
	}
	text := s.read(t)
	text[6] = 99 // the minor version of the format
	later := s.write(t, "later", text[:len(text)-lastLine])
	_, stderr, code = command(t, []string{"STINT_DB=" + dbtest.Empty(t, store.Postgres)}, "backup", "restore", later)
	if code != 1 || !strings.Contains(stderr, "a pg_dump of a PostgreSQL newer than") || strings.Contains(stderr, "database is damaged") {
		t.Errorf("exit %d %q", code, stderr)
	}
}

func shell(t *testing.T, line string) string {
	t.Helper()
	out, err := exec.Command("sh", "-c", line).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
