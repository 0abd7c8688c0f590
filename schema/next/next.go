// Package next is one migration more than a build has: what the release after
// it could bring. A build with the tag nextmigration knows it, so that tests can
// upgrade from one real program to another while both serve. Nothing else
// imports this package but tests.
package next

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
)

//go:embed postgres.sql sqlite.sql
var texts embed.FS

// After is base, whose folders postgres and sqlite hold migrations, with this
// one behind the newest of them.
func After(base fs.FS) (fs.FS, error) {
	newest := 0
	for _, engine := range []string{"postgres", "sqlite"} {
		entries, err := fs.ReadDir(base, engine)
		if err != nil {
			return nil, fmt.Errorf("find the newest migration: %w", err)
		}
		for _, e := range entries {
			if n, err := strconv.Atoi(e.Name()[:min(4, len(e.Name()))]); err == nil {
				newest = max(newest, n)
			}
		}
	}
	return extended{base, fmt.Sprintf("%04d_next.sql", newest+1)}, nil
}

// extended shows each folder of FS with one file more.
type extended struct {
	fs.FS
	name string
}

func (e extended) Open(name string) (fs.File, error) {
	if dir, file := path.Split(name); dir != "" && file == e.name {
		return texts.Open(path.Clean(dir) + ".sql")
	}
	return e.FS.Open(name)
}

func (e extended) ReadDir(dir string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(e.FS, dir)
	if err != nil {
		return nil, err
	}
	info, err := fs.Stat(texts, dir+".sql")
	return append(entries, renamed{fs.FileInfoToDirEntry(info), e.name}), err
}

type renamed struct {
	fs.DirEntry
	name string
}

func (r renamed) Name() string { return r.name }
