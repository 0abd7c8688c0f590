package backup

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/store"
)

// checkArchive reads an archive of pg_dump to its end. The refusal is what a
// start of this build would meet in it.
func checkArchive(ctx context.Context, path string, major int, o Options) (r Report, refusal, err error) {
	applied, err := archived(ctx, path, major)
	if err != nil {
		return r, nil, err
	}
	versions, refusal := schema.Compare(store.Postgres, applied)
	r, err = reportOf(store.Postgres, o, versions)
	r.Bytes = sizeOf(path)
	return r, refusal, err
}

// archived are the schema versions in an archive: version → checksum. All of the
// archive is read, so that one that was cut short is found out.
func archived(ctx context.Context, path string, major int) (map[string]string, error) {
	restore, err := program(ctx, "pg_restore", major)
	if err != nil {
		return nil, err
	}
	if err := (run{path: restore, args: []string{"--file=-", path}, out: io.Discard}).do(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	var text bytes.Buffer
	err = run{path: restore, args: []string{"--data-only", "--table=schema_migrations", "--file=-", path}, out: &text}.do(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return copied(&text)
}

// copied reads the COPY of schema_migrations.
func copied(r io.Reader) (map[string]string, error) {
	applied := map[string]string{}
	var columns []string
	for lines := bufio.NewScanner(r); lines.Scan(); {
		line := lines.Text()
		switch {
		case columns == nil:
			columns = copyColumns(line)
		case line == `\.`:
			return applied, nil
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
			applied[version] = checksum
		}
	}
	return nil, errors.New("it holds no Stint database: it has no table schema_migrations")
}

// copyColumns are the columns of "COPY schema.table (a, b) FROM stdin;".
func copyColumns(line string) []string {
	head, rest, ok := strings.Cut(line, " (")
	list, _, closed := strings.Cut(rest, ") FROM stdin;")
	if !ok || !closed || !strings.HasPrefix(head, "COPY ") || !strings.HasSuffix(head, "schema_migrations") {
		return nil
	}
	return strings.Split(list, ", ")
}

// tablesOf are the tables that an archive would make.
func tablesOf(ctx context.Context, path string, major int) (names []string, err error) {
	restore, err := program(ctx, "pg_restore", major)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := (run{path: restore, args: []string{"--list", path}, out: &text}).do(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	for line := range strings.Lines(text.String()) {
		fields := strings.Fields(line) // 215; 1259 16389 TABLE public jobs owner
		if len(fields) > 5 && fields[3] == "TABLE" && fields[4] != "DATA" {
			names = append(names, fields[5])
		}
	}
	return names, nil
}
