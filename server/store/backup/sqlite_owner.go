package backup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/store"
)

// moveAway is the way out where a restore would destroy what is not Stint's.
const moveAway = "it is not replaced; move it away, or name another path with --db"

// notOurs refuses to replace a database of another program: one that has tables, but
// not the versions table of Stint. One that is too broken to be read is not asked.
func notOurs(ctx context.Context, path string) error {
	there, ours, err := contents(ctx, path)
	if err != nil || ours || len(there) == 0 {
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

// contents are the tables of a database, in order, and whether they are Stint's: many
// programs have a schema_migrations, but not with checksums. There are none if the
// database is not there, or too broken to be read. Nothing is written.
func contents(ctx context.Context, path string) (tables []string, ours bool, err error) {
	if missing(path) {
		return nil, false, nil
	}
	how := url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(0)"}}
	if missing(path+"-wal") && missing(path+"-journal") {
		how.Set("immutable", "1") // or SQLite would make a log, and leave it
	}
	db, err := sql.Open("sqlite", schema.FileURI(path, how))
	if err != nil {
		return nil, false, err
	}
	defer db.Close()
	const query = `select m.name, exists (select 1 from pragma_table_info('schema_migrations') c where c.name = 'checksum')
		from sqlite_schema m where m.type = 'table' and m.name not like 'sqlite\_%' escape '\' and m.name <> 'schema_migrations' order by m.name`
	rows, err := db.QueryContext(ctx, query)
	for err == nil && rows.Next() {
		tables = append(tables, "")
		err = rows.Scan(&tables[len(tables)-1], &ours)
	}
	if err == nil {
		err = errors.Join(rows.Err(), rows.Close())
	}
	return tables, ours, unreadable(path, err)
}

// unreadable is why a database cannot be asked whose it is; nil if it is broken.
func unreadable(path string, err error) error {
	switch {
	case err == nil, store.Damaged(err), schema.SQLiteCode(err)&0xff == sqlite3.SQLITE_ERROR: // such as an unknown file format
		return nil
	case store.LockTimeout(err):
		return inUse(path)
	}
	return fmt.Errorf("read %s, which would be replaced: %w", path, err)
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
