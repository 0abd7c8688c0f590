package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// ping fails on a server that takes no writes. Where requests could not connect,
// or were refused, it connects anew, as they would have to.
func (p *pg) ping(ctx context.Context) error {
	if _, refusal := p.seen.failed(); refusal != nil || p.seen.starved(p.wait) {
		p.beside.renew(ctx)
	}
	return p.beside.ping(ctx)
}

// tryWrite writes beside the pool, and keeps nothing of it unless a write was
// refused. A pool that is used up is no fault as long as it gives out connections.
func (p *pg) tryWrite(ctx context.Context) error {
	if p.seen.starved(p.wait) && p.usedUp() {
		return errUsedUp
	}
	ago, refusal := p.seen.failed()
	err := p.seen.waited(p.beside.write(ctx, refusal != nil), p.wait)
	if err != nil || refusal == nil {
		return err
	}
	if ago < refusedFor && Cause(refusal) != CauseReadOnly { // which the probe would have met
		return refusal
	}
	p.seen.wrote()
	return nil
}

// renew gives the connection up.
func (b *pgBeside) renew(ctx context.Context) {
	conn, err := b.db.Conn(ctx)
	if err != nil {
		return // whoever asks next meets the same
	}
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = conn.Close()
}

func (b *pgBeside) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, b.wait)
	defer cancel()
	var readOnly string
	err := b.db.QueryRowContext(ctx, "show transaction_read_only").Scan(&readOnly)
	if err == nil && readOnly == "on" {
		b.renew(ctx) // the next one may find the new primary
		return &pgconn.PgError{Severity: "ERROR", Code: readOnlyTransaction, Message: "the server is read-only"}
	}
	return err
}

// probeText is what a connection that garbles texts does not give back.
const probeText = `é€✓ \n 'x'`

// write writes a row, and checks the rights on what every request writes. It is
// committed under one name for all replicas, or else rolled back under a name of
// its own, so that none waits for another.
func (b *pgBeside) write(ctx context.Context, commit bool) error {
	ctx, cancel := context.WithTimeout(ctx, b.wait)
	defer cancel()
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()
	key := "write_probe"
	if !commit {
		key += ":" + rand.Text()
	}
	if err := b.tryRow(ctx, tx, key); err != nil || !commit {
		return err
	}
	return tx.Commit()
}

func (b *pgBeside) tryRow(ctx context.Context, tx *sql.Tx, key string) error {
	wait := fmt.Sprintf("set local lock_timeout = '%dms'", b.wait.Milliseconds()/2)
	if _, err := tx.ExecContext(ctx, wait); err != nil {
		return err
	}
	var lacking sql.NullString
	if err := tx.QueryRowContext(ctx, lackingRights).Scan(&lacking); err != nil {
		return fmt.Errorf("read the rights: %w", err)
	}
	if lacking.Valid {
		return &pgconn.PgError{Severity: "ERROR", Code: insufficientPrivilege, Message: "permission denied: " + lacking.String}
	}
	var text string
	err := tx.QueryRowContext(ctx, `insert into meta (key, value) values ($1, $2)
		on conflict (key) do update set value = excluded.value returning value`, key, probeText).Scan(&text)
	if err == nil && text != probeText {
		err = errGarbled
	}
	return err
}

// lackingRights names the rights that the role lacks on the tables which every
// change of a job touches.
const lackingRights = `
	select string_agg(right_ || ' on ' || table_, ', ')
	from (values ('jobs', 'insert'), ('jobs', 'update'), ('runs', 'insert'), ('runs', 'update'),
		('idempotency_keys', 'insert'), ('idempotency_keys', 'update')) as needed (table_, right_)
	where not has_table_privilege(table_, right_)`
