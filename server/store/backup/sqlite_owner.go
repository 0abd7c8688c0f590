package backup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/store"
)

// moveAway is the way out where a restore would destroy what is not Stint's.
const moveAway = "it is not replaced; move it away, or name another path with --db"

// notOurs refuses to replace a database of another program: one that has tables, but
// none that the restored copy has too. One that cannot be read is not asked.
func notOurs(ctx context.Context, path, restored string) error {
	there, err := tablesOf(ctx, path)
	if err != nil || len(there) == 0 {
		return err
	}
	ours, err := tablesOf(ctx, restored)
	if err != nil || slices.ContainsFunc(there, func(name string) bool { return slices.Contains(ours, name) }) {
		return err
	}
	more := ""
	if n := len(there) - maxNamed; n > 0 {
		there, more = there[:maxNamed], fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("%s is a database of another program, with the tables %s%s: %s", path, strings.Join(there, ", "), more, moveAway)
}

// maxNamed is how many tables a refusal names.
const maxNamed = 5

// tablesOf are the tables of a database, in order; none if it is not there, or too
// broken to be read. schema_migrations is left out: many programs have one.
func tablesOf(ctx context.Context, path string) (names []string, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	db, err := sql.Open("sqlite", schema.FileURI(path, url.Values{"mode": {"rw"}, "_pragma": {"busy_timeout(0)", "query_only(1)"}}))
	if err != nil {
		return nil, err
	}
	defer db.Close()
	const query = "select name from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\' and name <> 'schema_migrations' order by name"
	rows, err := db.QueryContext(ctx, query)
	for err == nil && rows.Next() {
		names = append(names, "")
		err = rows.Scan(&names[len(names)-1])
	}
	if err == nil {
		err = errors.Join(rows.Err(), rows.Close())
	}
	switch {
	case store.Damaged(err):
		return nil, nil
	case err != nil && store.LockTimeout(err):
		return nil, inUse(path)
	}
	return names, err
}
