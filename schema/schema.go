// Package schema holds the versioned schema of both engines and brings a
// database to it.
//
// The files lie in postgres/ and sqlite/ as NNNN_name.sql, with equal numbers
// and names on both sides, in the form dbmate reads: one "-- migrate:up" and
// one "-- migrate:down" part. dbmate applies them; around it stand a lock (one
// migrator at a time, whatever number of replicas starts), a checksum for each
// applied version, strict order, and the refusals of [Verify].
//
// # Checksums
//
// The checksum of a migration is the SHA-256 of its file with every CRLF read
// as LF, so that a checkout with other line ends is the same migration.
// Everything else counts, comments and blank lines too: a released file is
// never edited, and whoever must correct one writes the next number.
//
// # The versions table
//
// schema_migrations(version text primary key, checksum text null) is all the
// bookkeeping there is. A version without a checksum (applied by a bare dbmate)
// is adopted: the next migrating start writes the checksum of its file.
package schema

import (
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"time"
)

// The names of the engines, which are the names of their folders too.
const (
	Postgres = "postgres"
	SQLite   = "sqlite"
)

//go:embed postgres/*.sql sqlite/*.sql
var embedded embed.FS

// files are the migrations of this build: those of the folders and, with the
// build tag nextmigration, one more.
var files fs.FS = embedded

// Mode says what a start does about pending migrations. The refusals (unknown,
// edited, duplicate, out of order, unusable) hold in every mode.
type Mode string

const (
	Auto       Mode = "auto"   // apply what is pending; the zero value does the same
	VerifyOnly Mode = "verify" // refuse to start while anything is pending
	Off        Mode = "off"    // leave pending migrations alone
)

// ParseMode reads the value of a --migrate flag.
func ParseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case Auto, VerifyOnly, Off:
		return m, nil
	}
	return "", fmt.Errorf("migrate mode %q: want auto, verify or off", s)
}

// Options say which database is meant and how long it may be waited for.
// Only URL is required.
type Options struct {
	URL  string       // sqlite:PATH or postgres://…
	Mode Mode         // "" is Auto; read by Migrate only
	Log  *slog.Logger // nil is silent

	// FS holds the folders postgres and sqlite; nil is the schema of this build.
	FS fs.FS

	// LockTimeout bounds each wait of a migration for a table that others use
	// (0: 3 s). While it waits, everybody else queues up behind it, so it gives
	// way, lets them through, and asks again: Attempts times in all (0: 5),
	// with a pause of one, two, three … times RetryPause (0: 1 s) between.
	LockTimeout time.Duration
	Attempts    int
	RetryPause  time.Duration
}

func (o Options) withDefaults() Options {
	if o.Mode == "" {
		o.Mode = Auto
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.FS == nil {
		o.FS = files
	}
	if o.LockTimeout == 0 {
		o.LockTimeout = 3 * time.Second
	}
	if o.Attempts == 0 {
		o.Attempts = 5
	}
	if o.RetryPause == 0 {
		o.RetryPause = time.Second
	}
	return o
}

// Expected returns the versions this build knows for an engine, in order. It
// panics on an unknown engine and on a build whose own files are refused: both
// are mistakes of the program, and the tests of this package find them.
func Expected(engine string) []string {
	known, err := own(engine)
	if err != nil {
		panic(err)
	}
	versions := make([]string, len(known))
	for i, m := range known {
		versions[i] = m.version
	}
	return versions
}

var (
	ownPostgres = sync.OnceValues(func() ([]migration, error) { return load(files, Postgres) })
	ownSQLite   = sync.OnceValues(func() ([]migration, error) { return load(files, SQLite) })
)

// own returns the migrations of this build, read once: a readiness probe asks
// for them every few seconds.
func own(engine string) ([]migration, error) {
	switch engine {
	case Postgres:
		return ownPostgres()
	case SQLite:
		return ownSQLite()
	}
	return nil, fmt.Errorf("schema: no engine %q", engine)
}
