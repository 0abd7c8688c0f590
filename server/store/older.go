package store

import (
	"context"
	"fmt"
	"regexp"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema"
)

// sessionName is what a process calls its sessions, base/NNNN: NNNN is the newest
// migration that its build knows. Builds of before 0013 add nothing.
// PostgreSQL cuts a name at 63 bytes.
func sessionName(base string) string {
	versions := schema.Expected(schema.Postgres)
	return base[:min(len(base), 58)] + "/" + versions[len(versions)-1]
}

var nameAndVersion = regexp.MustCompile(`^(.*)/([0-9]{4})$`)

// OlderReplica reports whether a process whose build does not know a migration, as
// "0013", which is the first that can be told, has a session on the database of q:
// none starts any more once this schema is there, but one that started before goes
// on. Sessions tell by their name, so behind a pooler that shares them only those in
// use do. An SQLite file has one server.
func OlderReplica(ctx context.Context, q model.Querier, than string) (bool, error) {
	tq, ok := q.(*txQuerier)
	if !ok {
		return false, fmt.Errorf("look for older replicas: %T is not the querier of a transaction", q)
	}
	t, ok := tq.txn.(*pgTx)
	if !ok {
		return false, nil
	}
	own := nameAndVersion.FindStringSubmatch(t.conn.Conn.Conn().Config().RuntimeParams["application_name"])
	if own == nil {
		return false, nil
	}
	var older bool
	err := pgWrites{t}.QueryRow(ctx, `select exists (
		select from pg_catalog.pg_stat_activity
		where datname = current_database()
			and (application_name = $1 or application_name ~ '/[0-9]{4}$' and left(application_name, -5) = $1 and right(application_name, 4) < $2)
	)`, own[1], than).Scan(&older)
	if err != nil {
		return false, fmt.Errorf("look for older replicas: %w", err)
	}
	return older, nil
}
