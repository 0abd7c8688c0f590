package schema

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

var newName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

const template = `-- migrate:up


-- migrate:down

`

// New writes the next migration's files, one for each engine, under
// dir/postgres and dir/sqlite, and returns their paths. name is lower-case
// letters, digits and underscores.
func New(dir, name string) ([]string, error) {
	if !newName.MatchString(name) {
		return nil, fmt.Errorf("migration name %q: want lower-case letters, digits and underscores, a letter first", name)
	}
	number, err := nextNumber(dir)
	if err != nil {
		return nil, fmt.Errorf("new migration: %w", err)
	}
	file := fmt.Sprintf("%04d_%s.sql", number, name)
	var paths []string
	for _, engine := range []string{Postgres, SQLite} {
		path := filepath.Join(dir, engine, file)
		if err := createFile(path); err != nil {
			return paths, fmt.Errorf("new migration: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// nextNumber is one more than the highest of both sides, so that the twins
// keep one number even while a side lacks a file.
func nextNumber(dir string) (int, error) {
	highest := 0
	for _, engine := range []string{Postgres, SQLite} {
		entries, err := os.ReadDir(filepath.Join(dir, engine))
		if err != nil {
			return 0, err
		}
		for _, e := range entries {
			if parts := fileName.FindStringSubmatch(e.Name()); parts != nil {
				n, _ := strconv.Atoi(parts[1])
				highest = max(highest, n)
			}
		}
	}
	if highest == 9999 {
		return 0, fmt.Errorf("all four-digit numbers are used")
	}
	return highest + 1, nil
}

func createFile(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(template); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
