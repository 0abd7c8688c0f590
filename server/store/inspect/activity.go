package inspect

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/stint-run/stint/schema"
)

// Held is a session, or a prepared transaction, that is open for a while.
type Held struct {
	Who     string // pid and application, or the name; "" if there is none
	State   string
	Seconds float64
}

// OldestTransaction is the transaction that is open for the longest, in this
// database.
func (p *Postgres) OldestTransaction(ctx context.Context) (Held, error) {
	return p.held(ctx, `select 'pid ' || pid || ' (' || coalesce(application_name, '') || ')', coalesce(state, ''),
			extract(epoch from clock_timestamp() - xact_start)::float8
		from pg_stat_activity
		where xact_start is not null and datname = current_database() and pid <> pg_backend_pid()
			and backend_type <> 'autovacuum worker'
		order by xact_start limit 1`)
}

// OldestSnapshot is the session whose snapshot keeps the most dead rows of this
// database; a standby's feedback counts too. A session that is only starting
// holds one for a moment: it has no state yet, or from PostgreSQL 18 on that one.
func (p *Postgres) OldestSnapshot(ctx context.Context) (Held, error) {
	return p.held(ctx, `select 'pid ' || pid || ' (' || coalesce(application_name, '') || ')', coalesce(state, ''),
			extract(epoch from clock_timestamp() - coalesce(xact_start, query_start, backend_start))::float8
		from pg_stat_activity
		where backend_xmin is not null and coalesce(datname, current_database()) = current_database()
			and pid <> pg_backend_pid() and backend_type is distinct from 'autovacuum worker'
			and coalesce(xact_start, query_start, backend_start) is not null
			and not (backend_type = 'client backend' and coalesce(state, 'starting') = 'starting')
		order by age(backend_xmin) desc, 3 desc limit 1`)
}

// OldestPrepared is the oldest prepared transaction of this database.
func (p *Postgres) OldestPrepared(ctx context.Context) (Held, error) {
	return p.held(ctx, `select gid, 'prepared', extract(epoch from clock_timestamp() - prepared)::float8
		from pg_prepared_xacts where database = current_database() order by prepared limit 1`)
}

func (p *Postgres) held(ctx context.Context, query string) (h Held, err error) {
	rows, err := p.conn.Query(ctx, query)
	if err != nil {
		return h, schema.Hide(p.raw, err)
	}
	_, err = pgx.ForEachRow(rows, []any{&h.Who, &h.State, &h.Seconds}, func() error { return nil })
	return h, schema.Hide(p.raw, err)
}

// Slot is a replication slot.
type Slot struct {
	Name          string
	Active, Holds bool // holds: it keeps dead rows
	WALStatus     string
	Retained      int64 // bytes of WAL kept for it
}

// Slots are the slots of the server.
func (p *Postgres) Slots(ctx context.Context) (all []Slot, err error) {
	rows, err := p.conn.Query(ctx, `select slot_name::text, active, xmin is not null or catalog_xmin is not null, coalesce(wal_status, ''),
			coalesce(case when pg_is_in_recovery() then 0 else pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn) end, 0)::bigint
		from pg_replication_slots order by 5 desc, 1`)
	if err != nil {
		return nil, schema.Hide(p.raw, err)
	}
	var s Slot
	_, err = pgx.ForEachRow(rows, []any{&s.Name, &s.Active, &s.Holds, &s.WALStatus, &s.Retained}, func() error {
		all = append(all, s)
		return nil
	})
	return all, schema.Hide(p.raw, err)
}

// WAL is the size of pg_wal in bytes; only members of pg_monitor may ask.
func (p *Postgres) WAL(ctx context.Context) (bytes int64, err error) {
	return bytes, p.one(ctx, "select coalesce(sum(size), 0)::bigint from pg_ls_waldir()", &bytes)
}

// Table is how autovacuum gets on with a table.
type Table struct {
	Name       string
	Live, Dead int64
	Trigger    float64  // dead rows from which on autovacuum runs
	Enabled    bool     // autovacuum_enabled
	Since      *float64 // seconds since the last vacuum of either kind; nil: none
}

// Tables measures the tables of these names that exist.
func (p *Postgres) Tables(ctx context.Context, names []string) (all []Table, err error) {
	rows, err := p.conn.Query(ctx, `select n.name, coalesce(s.n_live_tup, 0), coalesce(s.n_dead_tup, 0),
			coalesce(o.threshold, current_setting('autovacuum_vacuum_threshold')::float8)
				+ coalesce(o.scale, current_setting('autovacuum_vacuum_scale_factor')::float8) * coalesce(s.n_live_tup, 0),
			coalesce(o.enabled, true),
			extract(epoch from clock_timestamp() - greatest(s.last_vacuum, s.last_autovacuum))::float8
		from unnest($1::text[]) with ordinality n(name, place)
		join pg_class c on c.oid = to_regclass(n.name)
		left join pg_stat_user_tables s on s.relid = c.oid
		cross join lateral (
			select max(option_value) filter (where option_name = 'autovacuum_vacuum_threshold')::float8 as threshold,
				max(option_value) filter (where option_name = 'autovacuum_vacuum_scale_factor')::float8 as scale,
				max(option_value) filter (where option_name = 'autovacuum_enabled')::bool as enabled
			from pg_options_to_table(c.reloptions)
		) o
		order by n.place`, names)
	if err != nil {
		return nil, schema.Hide(p.raw, err)
	}
	all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Table])
	return all, schema.Hide(p.raw, err)
}
