package schema

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// taken are the settings that the code takes for granted of every session,
// whatever the server, a role, the environment or the URL says. They are
// start-up parameters: pgbouncer keeps these three for each of its clients, and
// refuses those that it does not know. What else a session needs is SET.
var taken = map[string]string{
	"client_encoding":             "UTF8", // the driver sends UTF-8 whatever it is
	"DateStyle":                   "ISO",  // it reads no other in text
	"standard_conforming_strings": "on",   // the simple protocol quotes by it
}

// PoolConfig reads the URL of a PostgreSQL database for everybody who connects
// to one: pools, and by its ConnConfig single connections, which the server
// would else refuse for pool_max_conns and its like. Errors show no password.
func PoolConfig(raw string) (*pgxpool.Config, error) {
	at, err := locate(raw)
	if err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(raw)
	if err != nil {
		return nil, parseError(at, err)
	}
	params := config.ConnConfig.RuntimeParams
	for name := range params {
		if isTaken(name) {
			delete(params, name)
		}
	}
	for name, value := range taken {
		params[name] = value
	}
	require(&config.ConnConfig.Config, checkTaken)
	return config, nil
}

// isTaken reports whether a parameter is one of taken, in whatever letters.
func isTaken(name string) bool {
	for t := range taken {
		if strings.EqualFold(t, name) {
			return true
		}
	}
	return false
}

// require adds a check of each new connection to those that it meets already. A
// connection that fails is closed, and the next host of the URL is tried.
func require(c *pgconn.Config, check pgconn.ValidateConnectFunc) {
	before := c.ValidateConnect
	c.ValidateConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
		if before != nil {
			if err := before(ctx, conn); err != nil {
				return err
			}
		}
		return check(ctx, conn)
	}
}

// checkTaken refuses a connection that does not have what was asked for: a
// pooler may keep a start-up parameter to itself.
func checkTaken(_ context.Context, conn *pgconn.PgConn) error {
	for name, want := range taken {
		got := conn.ParameterStatus(name)
		style, _, _ := strings.Cut(got, ",") // DateStyle names an order too
		if got != "" && style != want {
			return refuse(CodeSession, []string{name}, "the connection has %s = %s, though %s was asked for: "+
				"let the pooler before the database pass this start-up parameter on", name, got, want)
		}
	}
	return nil
}

// RequireUTF8 makes connections fail to a database of another encoding, which
// could not hold every text that is accepted, or would not know it as text.
func RequireUTF8(c *pgx.ConnConfig) {
	name := c.Database
	require(&c.Config, func(_ context.Context, conn *pgconn.PgConn) error {
		encoding := conn.ParameterStatus("server_encoding")
		if encoding == "" || encoding == "UTF8" {
			return nil
		}
		return refuse(CodeEncoding, []string{encoding}, "the database %s has the encoding %s and has to have UTF8: "+
			"make another one by `%s`, and bring what is in this one there by `stint backup create` and `stint backup restore`",
			name, encoding, CreateDatabase(name+"_utf8"))
	})
}

// CreateDatabase is the statement that makes a database fit for the schema on
// any server. template1 may have another encoding, and a locale of the server's
// that goes with that encoding alone; every text of ours is compared by bytes.
func CreateDatabase(name string) string {
	return "create database " + pgx.Identifier{name}.Sanitize() + " encoding 'UTF8' lc_collate 'C' lc_ctype 'C' template template0"
}

// RequireWrites makes connections fail to a server that takes no writes, so that
// another host of the URL is tried, unless the URL or PGTARGETSESSIONATTRS asks
// for something else.
func RequireWrites(c *pgx.ConnConfig, raw string) {
	if !HasParam(raw, "target_session_attrs") && os.Getenv("PGTARGETSESSIONATTRS") == "" {
		require(&c.Config, checkWrites)
	}
}

func checkWrites(ctx context.Context, conn *pgconn.PgConn) error {
	readOnly, err := oneRow(ctx, conn, "show transaction_read_only")
	if err != nil || readOnly[0] == "off" {
		return err
	}
	why, err := oneRow(ctx, conn, whyReadOnly)
	if err != nil {
		return err
	}
	if why[0] == "t" {
		return refuse(CodeStandby, nil, "%s is a standby, which takes no writes: name the primary in the URL, or promote the standby", conn.Conn().RemoteAddr())
	}
	return refuse(CodeReadOnly, nil, "default_transaction_read_only is on for %s, so nothing can be written: %s", why[1], why[2])
}

// takesNoWrites reports that a server answered, and takes no writes.
func takesNoWrites(err error) bool {
	code := Code(err)
	return code == CodeStandby || code == CodeReadOnly
}

// severalHosts reports whether err is of a URL that names more than one server.
func severalHosts(err error) bool {
	connect, ok := errors.AsType[*pgconn.ConnectError](err)
	return ok && slices.ContainsFunc(connect.Config.Fallbacks, func(f *pgconn.FallbackConfig) bool {
		return f.Host != connect.Config.Host || f.Port != connect.Config.Port
	})
}

// whyReadOnly is: whether the server is a standby, and if not for whom the
// setting is on, and how to end that.
const whyReadOnly = `
	select pg_is_in_recovery(),
		case source
			when 'user' then format('the role %I', session_user)
			when 'database' then format('the database %I', current_database())
			when 'database user' then format('the role %I in the database %I', session_user, current_database())
			when 'client' then 'this connection'
			else 'the server'
		end,
		case source
			when 'user' then format('alter role %I reset default_transaction_read_only', session_user)
			when 'database' then format('alter database %I reset default_transaction_read_only', current_database())
			when 'database user' then format('alter role %I in database %I reset default_transaction_read_only', session_user, current_database())
			when 'client' then 'take it out of the URL, or of PGOPTIONS'
			else 'set it off there, or name another server'
		end
	from pg_settings where name = 'default_transaction_read_only'`

// oneRow is the first row of a query, as text. The connection is too new for more.
func oneRow(ctx context.Context, conn *pgconn.PgConn, query string) ([]string, error) {
	results, err := conn.Exec(ctx, query).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(results) != 1 || len(results[0].Rows) != 1 {
		return nil, fmt.Errorf("no answer to %q", query)
	}
	var row []string
	for _, value := range results[0].Rows[0] {
		row = append(row, string(value))
	}
	return row, nil
}
