package store

import "testing"

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
	must(on("pragma query_only = 1")) // refuses as a full or read-only disk does
	must(l.ping(ctx))
	l.note(on("insert into meta (key, value) values ('k', 'v')"))
	if err := l.ping(ctx); err == nil {
		t.Error("ready while the disk refuses writes")
	}
	must(on("pragma query_only = 0"))
	must(l.ping(ctx))
	var rows int
	must(l.reader.QueryRowContext(ctx, "select count(*) from meta").Scan(&rows))
	if rows != 0 || l.refused.Load() {
		t.Errorf("the probe left %d rows, refused %v", rows, l.refused.Load())
	}
}
