package schema

import (
	"database/sql"
	"errors"
	"net/url"
	"slices"
	"strings"
)

// libpqParams are the parameters of a URL that PostgreSQL's own programs know.
var libpqParams = strings.Fields(`host hostaddr port dbname user passfile channel_binding connect_timeout
	options application_name fallback_application_name keepalives keepalives_idle keepalives_interval keepalives_count
	tcp_user_timeout gssencmode sslmode sslcompression sslcert sslkey sslrootcert sslcrl sslcrldir sslsni requirepeer
	ssl_min_protocol_version ssl_max_protocol_version krbsrvname gsslib service target_session_attrs require_auth
	sslcertmode sslnegotiation load_balance_hosts`)

// driverParams are those that only our driver knows, besides pool_*.
var driverParams = []string{"default_query_exec_mode", "statement_cache_capacity", "description_cache_capacity"}

// ForTools is a postgres URL as pg_dump and pg_restore take it: without its
// password, which goes by the environment, since arguments are seen by
// everybody on the machine, and without what only our driver understands.
// Settings of the session, such as search_path, become options; the encoding and
// the style of dates are those of every other connection (see PoolConfig).
func ForTools(raw string) (argument string, env []string, err error) {
	u, ok := cutServer(raw)
	if !ok {
		return "", nil, badURL(unreadable)
	}
	var options, kept []string
	user, password, has := strings.Cut(u.user, ":")
	if has {
		if password, err = url.PathUnescape(password); err != nil {
			return "", nil, badURL(unreadable)
		}
	}
	u.user = user
	for _, pair := range u.query {
		name, value, _ := strings.Cut(pair, "=")
		switch name = decoded(name); {
		case name == "password":
			password = decoded(value)
		case secretParam(name):
			return "", nil, errors.New("PostgreSQL's programs take the passphrase of a key from no environment variable: use a key file without one")
		case name == "options":
			options = append(options, decoded(value))
		case isTaken(name):
		case slices.Contains(libpqParams, name):
			kept = append(kept, pair)
		case slices.Contains(driverParams, name), strings.HasPrefix(name, "pool_"):
		default:
			options = append(options, "-c "+name+"="+optionEscape.Replace(decoded(value)))
		}
	}
	if len(options) > 0 {
		// libpq reads + as itself.
		kept = append(kept, "options="+strings.ReplaceAll(url.QueryEscape(strings.Join(options, " ")), "+", "%20"))
	}
	u.query = kept
	env = []string{"PGCLIENTENCODING=" + taken["client_encoding"], "PGDATESTYLE=" + taken["DateStyle"]}
	if password != "" {
		env = append(env, "PGPASSWORD="+password)
	}
	return u.String(), env, nil
}

// optionEscape writes a value of the options parameter.
var optionEscape = strings.NewReplacer(`\`, `\\`, " ", `\ `)

// Compare judges versions that were read elsewhere than from a database, such as
// from an archive: version → checksum, "" if none was kept. Its error is the
// refusal that a start with them would meet; pending versions are none.
func Compare(engine string, applied map[string]string) ([]Version, error) {
	known, err := own(engine)
	if err != nil {
		return nil, err
	}
	st := stateOfArchive(known, applied)
	return st.versions(), st.refuse()
}

func stateOfArchive(known []migration, applied map[string]string) state {
	st := state{known: known, applied: map[string]sql.NullString{}}
	for version, checksum := range applied {
		st.applied[version] = sql.NullString{String: checksum, Valid: checksum != ""}
	}
	return st
}
