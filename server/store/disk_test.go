package store

import (
	"database/sql"
	"fmt"
	"testing"
)

// In this package, since nothing outside reaches the writer to make it refuse.
func TestADiskThatRefusesWritesMakesTheStoreUnreadyUntilItTakesThem(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	l, err := openSQLite(ctx, Config{URL: "sqlite:" + t.TempDir() + "/x.db", Readers: 1, Waits: productWaits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	on := func(statement string) error {
		_, err := l.writer.ExecContext(ctx, statement)
		return err
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(on("create table meta (key text primary key, value text not null) strict"))
	refuse := func(yes int) { // as a full or read-only disk does
		t.Helper()
		for _, db := range []*sql.DB{l.writer, l.beside} {
			_, err := db.ExecContext(ctx, fmt.Sprint("pragma query_only = ", yes))
			must(err)
		}
	}
	must(l.tryWrite(ctx))
	refuse(1)
	l.seen.note(on("insert into meta (key, value) values ('k', 'v')"))
	if err := l.tryWrite(ctx); Cause(err) != CauseReadOnly {
		t.Errorf("%v while the disk refuses writes", err)
	}
	refuse(0)
	must(l.tryWrite(ctx))
	var rows int
	must(l.reader.QueryRowContext(ctx, "select count(*) from meta").Scan(&rows))
	if _, refusal := l.seen.failed(); rows != 0 || refusal != nil {
		t.Errorf("the probe left %d rows, refused %v", rows, refusal)
	}
}
