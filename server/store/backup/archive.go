package backup

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/store"
)

// archive is a file of pg_dump and what was read in it.
type archive struct {
	path, restore string // the file, and the pg_restore that reads it
	body          int64  // its bytes without the checksum
	namespace     string // the schema that our tables are in
	applied       map[string]string
	tables        []string // of that schema
	from          int      // the major of the server that it comes from
}

// checkArchive reads an archive of pg_dump to its end. The refusal is what a
// start of this build would meet in it.
func checkArchive(ctx context.Context, path string, restore tool, o Options) (a archive, r Report, refusal, err error) {
	a = archive{path: path, restore: restore.path}
	if err := a.read(ctx); err != nil {
		return a, r, nil, restore.explain(err)
	}
	versions, refusal := schema.Compare(store.Postgres, a.applied)
	r, err = reportOf(store.Postgres, o, versions)
	r.Bytes = sizeOf(path)
	return a, r, refusal, err
}

// read reads all of the archive, so that one that was cut short is found out,
// then what is in it.
func (a *archive) read(ctx context.Context) error {
	f, err := os.Open(a.path)
	if err != nil {
		return err
	}
	defer f.Close()
	c, err := readChecksum(f)
	if err != nil {
		return err
	}
	a.body = c.body
	var rows, made bytes.Buffer
	for _, pass := range []struct {
		out  io.Writer
		args []string
	}{
		{io.Discard, nil},
		{&rows, []string{"--data-only", "--table=schema_migrations"}},
		{&made, []string{"--section=pre-data"}},
	} {
		if err := a.print(io.NewSectionReader(f, 0, a.body), pass.args...).to(ctx, pass.out); err != nil {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
	}
	if err := a.versions(&rows); err != nil {
		return err
	}
	a.madeBy(made.String())
	return nil
}

// print is a run that makes SQL of a part of the archive.
func (a archive) print(body io.Reader, args ...string) run {
	return run{path: a.restore, args: append([]string{"--file=-", "--no-owner", "--no-acl"}, args...), in: body}
}

// versions reads the COPY of schema_migrations.
func (a *archive) versions(r io.Reader) error {
	a.applied = map[string]string{}
	var columns []string
	for lines := bufio.NewScanner(r); lines.Scan(); {
		line := lines.Text()
		switch {
		case columns == nil:
			a.namespace, columns = copyOf(line)
		case line == `\.`:
			return nil
		default:
			version, checksum := "", ""
			for i, field := range strings.Split(line, "\t") {
				switch {
				case field == `\N` || i >= len(columns):
				case columns[i] == "version":
					version = field
				case columns[i] == "checksum":
					checksum = field
				}
			}
			a.applied[version] = checksum
		}
	}
	return errors.New("it holds no Stint database: it has no table schema_migrations")
}

// copyOf is the schema and the columns of
// "COPY schema.schema_migrations (a, b) FROM stdin;".
func copyOf(line string) (namespace string, columns []string) {
	rest, begins := strings.CutPrefix(line, "COPY ")
	namespace, table, rest := qualified(rest)
	list, ends := strings.CutSuffix(strings.TrimPrefix(rest, " ("), ") FROM stdin;")
	if !begins || !ends || table != "schema_migrations" {
		return "", nil
	}
	return namespace, strings.Split(list, ", ")
}

var madeOn = regexp.MustCompile(`(?m)^-- Dumped from database version (\d+)`)

// madeBy reads the statements that make the tables.
func (a *archive) madeBy(text string) {
	if found := madeOn.FindStringSubmatch(text); found != nil {
		a.from, _ = strconv.Atoi(found[1])
	}
	for line := range strings.Lines(text) {
		rest, begins := strings.CutPrefix(line, "CREATE TABLE ")
		if namespace, table, _ := qualified(rest); begins && namespace == a.namespace {
			a.tables = append(a.tables, table)
		}
	}
}

// qualified cuts "schema.name" off a statement, either part in quotes or not.
func qualified(text string) (namespace, name, rest string) {
	namespace, rest = identifier(text)
	if rest, found := strings.CutPrefix(rest, "."); found {
		name, rest = identifier(rest)
		return namespace, name, rest
	}
	return "", namespace, rest
}

func identifier(text string) (name, rest string) {
	if !strings.HasPrefix(text, `"`) {
		end := strings.IndexAny(text+" ", ". (;\n")
		return text[:end], text[end:]
	}
	for i := 1; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		if i+1 == len(text) || text[i+1] != '"' {
			return strings.ReplaceAll(text[1:i], `""`, `"`), text[i+1:]
		}
		i++
	}
	return "", text
}
