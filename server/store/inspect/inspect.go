// Package inspect measures what decides on the health of a database and what
// only its engine can tell: catalogs, statistics, PRAGMAs, files. It judges
// nothing; server/doctor does. Its statements are hand-written: they have no
// twin on the other engine (docs/adr/0009).
package inspect

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/stint-run/stint/schema"
)

// Postgres is one plain connection: without what the store's sessions SET, so
// that it sees the server's own.
type Postgres struct {
	conn *pgx.Conn
	raw  string
}

// OpenPostgres connects within 10 s. Its error shows no password.
func OpenPostgres(ctx context.Context, raw string) (*Postgres, error) {
	config, err := schema.PoolConfig(raw)
	if err != nil {
		return nil, err
	}
	c := config.ConnConfig
	c.DefaultQueryExecMode = pgx.QueryExecModeExec // works behind every pooler
	c.RuntimeParams["application_name"] = "stint doctor"
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = 10 * time.Second
	}
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return nil, schema.Hide(raw, schema.ConnectError(err))
	}
	return &Postgres{conn, raw}, nil
}

// Close ends the connection.
func (p *Postgres) Close(ctx context.Context) { _ = p.conn.Close(ctx) }

// one scans the only row of a statement.
func (p *Postgres) one(ctx context.Context, query string, targets ...any) error {
	return schema.Hide(p.raw, p.conn.QueryRow(ctx, query).Scan(targets...))
}

// NoRights reports whether the role may not read what was asked for.
func NoRights(err error) bool { return schema.SQLState(err) == "42501" }

// Server is what a PostgreSQL server is and how it is set.
type Server struct {
	Version                 string
	Major                   int
	Encoding                string // of this database
	Database                string
	Fsync, FullPageWrites   bool
	SynchronousCommit       string
	Autovacuum, TrackCounts bool
	Available               int // max_connections without what is reserved
	InUse                   int // connections to any database
	MaxWAL                  int64
	Encrypted               bool
	Address                 string // the server's, as this end sees it; "" for a socket
	SeesAll                 bool   // the role sees what other roles' sessions do
}

// Server reads the settings. Every role may.
func (p *Postgres) Server(ctx context.Context) (s Server, err error) {
	err = p.one(ctx, `select current_setting('server_version'), current_setting('server_version_num')::int / 10000,
		current_setting('server_encoding'), current_database()::text,
		current_setting('fsync')::bool, current_setting('full_page_writes')::bool, current_setting('synchronous_commit'),
		current_setting('autovacuum')::bool, current_setting('track_counts')::bool,
		current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
			- coalesce(current_setting('reserved_connections', true)::int, 0),
		(select coalesce(sum(numbackends), 0)::int from pg_stat_database),
		pg_size_bytes(current_setting('max_wal_size')),
		coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false),
		pg_has_role(current_user, 'pg_read_all_stats', 'usage')`,
		&s.Version, &s.Major, &s.Encoding, &s.Database, &s.Fsync, &s.FullPageWrites, &s.SynchronousCommit, &s.Autovacuum, &s.TrackCounts,
		&s.Available, &s.InUse, &s.MaxWAL, &s.Encrypted, &s.SeesAll)
	if addr := p.conn.PgConn().Conn().RemoteAddr(); addr.Network() == "tcp" {
		s.Address = addr.String()
	}
	return s, err
}

// Clock is the server's clock and the time that asking took.
func (p *Postgres) Clock(ctx context.Context) (at time.Time, err error) {
	return at, p.one(ctx, "select clock_timestamp()", &at)
}
