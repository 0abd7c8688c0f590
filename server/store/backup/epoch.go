package backup

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/stint-run/stint/schema"
)

// The numbers of an owner's changes go on from the backup, while the database that
// it was made of has given the same numbers to other changes. So a restore begins
// another epoch, and a reader who continues from the other database is told to begin
// again. Epochs are drawn, so that two restores of one backup have two.

// sequences is the table that has the epochs. A backup of a release before it has
// nothing that was numbered.
const sequences = "owner_seq"

// newEpoch is the statement, on the table of that name.
func newEpoch(table string) string {
	return fmt.Sprintf("update %s set epoch = %d", table, rand.Int64())
}

// beginEpoch begins the epoch of a restored schema.
func (a archive) beginEpoch(ctx context.Context, tx pgx.Tx, target string) error {
	if !slices.Contains(a.tables, sequences) {
		return nil
	}
	if _, err := tx.Exec(ctx, newEpoch(quoted(target, sequences))); err != nil {
		return fmt.Errorf("begin another epoch: %w", err)
	}
	return nil
}

// beginEpoch begins the epoch of the copy of a backup, a file that nobody else has
// open and that stays one without a log.
func beginEpoch(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", schema.FileURI(path, url.Values{"mode": {"rw"}, "_pragma": {"journal_mode(delete)", "synchronous(full)"}}))
	if err != nil {
		return err
	}
	defer db.Close()
	var tables int
	err = db.QueryRowContext(ctx, "select count(*) from sqlite_schema where type = 'table' and name = ?", sequences).Scan(&tables)
	if err == nil && tables > 0 {
		_, err = db.ExecContext(ctx, newEpoch(sequences))
	}
	if err != nil {
		return fmt.Errorf("begin another epoch: %w", err)
	}
	return nil
}
