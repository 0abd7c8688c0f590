package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// statement is one named query as it was written.
type statement struct {
	name, command string
	file          string // relative to the queries folder, as shared/jobs.sql
	line          int
	doc           []string
	sql           string
}

func (s *statement) at() string { return fmt.Sprintf("%s:%d: %s", s.file, s.line, s.name) }

// sources are the statements of each folder of queries/, in file order.
type sources struct {
	shared, postgres, sqlite []*statement
}

func readSources(dir string, found *problems) (*sources, error) {
	var src sources
	var err error
	for folder, into := range map[string]*[]*statement{
		"shared": &src.shared, "postgres": &src.postgres, "sqlite": &src.sqlite,
	} {
		if *into, err = readFolder(dir, folder, found); err != nil {
			return nil, err
		}
	}
	return &src, nil
}

// readFolder reads the .sql files of one folder; sqlc does not look deeper.
func readFolder(dir, folder string, found *problems) ([]*statement, error) {
	names, err := filepath.Glob(filepath.Join(dir, folder, "*.sql"))
	if err != nil {
		return nil, err
	}
	var all []*statement
	for _, name := range names {
		body, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read queries: %w", err)
		}
		all = append(all, split(folder+"/"+filepath.Base(name), string(body), found)...)
	}
	return all, nil
}

var nameLine = regexp.MustCompile(`^-- name: (\w+) (:\w+)$`)

// split cuts a file at its name lines.
func split(file, body string, found *problems) []*statement {
	var all []*statement
	for i, line := range strings.Split(body, "\n") {
		trimmed := strings.TrimSpace(line)
		if m := nameLine.FindStringSubmatch(trimmed); m != nil {
			all = append(all, &statement{name: m[1], command: m[2], file: file, line: i + 1})
			continue
		}
		if len(all) == 0 {
			if trimmed != "" && !strings.HasPrefix(trimmed, "--") {
				found.add("%s:%d: SQL before the first -- name line: sqlc drops it", file, i+1)
			}
			continue
		}
		all[len(all)-1].add(line, trimmed)
	}
	return all
}

// add takes a line after the name line: doc while no SQL came, then SQL.
func (s *statement) add(line, trimmed string) {
	if s.sql == "" && strings.HasPrefix(trimmed, "--") {
		s.doc = append(s.doc, strings.TrimSpace(strings.TrimPrefix(trimmed, "--")))
		return
	}
	if s.sql != "" || trimmed != "" {
		s.sql += line + "\n"
	}
}

// statements are those that one engine runs.
func (src *sources) statements(d dialect) map[string]*statement {
	own := src.postgres
	if d == sqlite {
		own = src.sqlite
	}
	all := map[string]*statement{}
	for _, s := range slices.Concat(src.shared, own) {
		all[s.name] = s
	}
	return all
}

// compareNames notices statements that sqlc lost, and accessors whose
// statement is gone.
func (src *sources) compareNames(acc *accessors, found *problems) {
	written := src.statements(acc.engine)
	for name, s := range written {
		if acc.methods[name] == nil {
			found.add("%s: %s: sqlc made no accessor of %s:%d", acc.engine, name, s.file, s.line)
		}
	}
	for name, m := range acc.methods {
		if written[name] == nil {
			found.add("%s: %s: no statement of that name under queries/, but %s has its accessor", acc.engine, name, m.file)
		}
	}
}

// refuse holds the rules for what is written under queries/.
func (src *sources) refuse(found *problems) {
	for _, side := range []struct {
		dialect dialect
		all     []*statement
	}{{postgres, src.shared}, {sqlite, src.shared}, {postgres, src.postgres}, {sqlite, src.sqlite}} {
		for i, s := range side.all {
			s.refuse(side.dialect, found)
			if i > 0 && side.all[i-1].file == s.file && side.all[i-1].name > s.name {
				found.add("%s: stands after %s: statements of a file are sorted by name", s.at(), side.all[i-1].name)
			}
		}
	}
	src.refuseLonely(found)
}

// refuseLonely compares the two folders: same files, same statements, same
// commands, and none that shared/ has too.
func (src *sources) refuseLonely(found *problems) {
	shared := byName(src.shared)
	pg, lite := byName(src.postgres), byName(src.sqlite)
	for _, s := range slices.Concat(src.postgres, src.sqlite) {
		if other := shared[s.name]; other != nil {
			found.add("%s: %s has a statement of that name too", s.at(), other.file)
		}
		folder, base, _ := strings.Cut(s.file, "/")
		twins, missing := lite, "sqlite/"+base
		if folder == "sqlite" {
			twins, missing = pg, "postgres/"+base
		}
		switch twin := twins[s.name]; {
		case twin == nil || twin.file != missing:
			found.add("%s: has no twin in %s", s.at(), missing)
		case folder == "postgres" && twin.command != s.command:
			found.add("%s: is %s, but %s in %s", s.at(), s.command, twin.command, twin.file)
		}
	}
}

func byName(all []*statement) map[string]*statement {
	m := map[string]*statement{}
	for _, s := range all {
		m[s.name] = s
	}
	return m
}
