package backup

import (
	"context"
	"errors"
	"fmt"

	"github.com/stint-run/stint/server/store"
)

// Verified is a backup whose bytes are those that were written.
type Verified struct {
	Engine string `json:"engine"`
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Verify compares a backup with the checksum in it. It needs neither a database
// nor programs. A file without a checksum is an error: nothing is known of it.
func Verify(ctx context.Context, o Options) (Verified, error) {
	engine, err := kind(o.File)
	if err != nil {
		return Verified{}, err
	}
	c, err := check(ctx, o)
	if err == nil && c.sum == "" {
		err = errors.New("it has no checksum: a release before this one made it, or its end is lost; restore it into a new database to see whether it is whole")
	}
	if err != nil {
		return Verified{}, fmt.Errorf("%s: %w", o.File, err)
	}
	return Verified{Engine: engine, File: o.File, Bytes: sizeOf(o.File), SHA256: c.sum}, nil
}

// kind is the engine whose backup a file is.
func kind(path string) (engine string, err error) {
	start, err := begin(path)
	switch {
	case err != nil:
		return "", err
	case is(start, liteMagic):
		return store.SQLite, nil
	case is(start, pgDumpMagic):
		return store.Postgres, nil
	}
	return "", noBackup(path)
}
