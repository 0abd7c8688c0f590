package schema

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Reader is what the versions are read through: *sql.DB, *sql.Conn and *sql.Tx
// are Readers; a pgx pool becomes one by stdlib.OpenDBFromPool.
type Reader interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Gap is the difference between a database and this build.
type Gap struct {
	Pending []string // versions this build knows and the database lacks
	Ahead   []string // versions the database has and this build does not know
}

// Pending compares a database with this build by one select. It is made for a
// readiness probe: a running server is ready while Pending is empty, also when
// a newer build has migrated ahead of it.
func Pending(ctx context.Context, engine string, db Reader) (Gap, error) {
	applied, err := readApplied(ctx, db)
	if err != nil {
		return Gap{}, fmt.Errorf("read schema versions: %w", err)
	}
	known, err := own(engine)
	if err != nil {
		return Gap{}, err
	}
	var gap Gap
	for _, v := range (state{known: known, applied: applied}).versions() {
		switch v.State {
		case StatePending, StateOutOfOrder:
			gap.Pending = append(gap.Pending, v.Version)
		case StateUnknown:
			gap.Ahead = append(gap.Ahead, v.Version)
		}
	}
	return gap, nil
}

// readApplied returns version → checksum; an invalid checksum is one that was
// never written. "select *" because a table made by a bare dbmate has no
// checksum column.
func readApplied(ctx context.Context, db Reader) (map[string]sql.NullString, error) {
	rows, err := db.QueryContext(ctx, "select * from schema_migrations")
	if noTable(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	applied := map[string]sql.NullString{}
	for rows.Next() {
		version, checksum, err := scanApplied(rows, columns)
		if err != nil {
			return nil, err
		}
		applied[version] = checksum
	}
	// PostgreSQL's simple protocol reports the missing table only here.
	if err := rows.Err(); err != nil && !noTable(err) {
		return nil, err
	}
	return applied, nil
}

func scanApplied(rows *sql.Rows, columns []string) (version string, checksum sql.NullString, err error) {
	targets := make([]any, len(columns))
	for i, c := range columns {
		switch c {
		case "version":
			targets[i] = &version
		case "checksum":
			targets[i] = &checksum
		default:
			targets[i] = new(any)
		}
	}
	err = rows.Scan(targets...)
	return version, checksum, err
}

// texts is the only column of a query; nil if it has no rows.
func texts(ctx context.Context, db Reader, query string) (list []string, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, rows.Err()
}

// The states of a [Version].
const (
	StateApplied    = "applied"
	StatePending    = "pending"
	StateUnknown    = "unknown"      // applied by a build that is not this one
	StateEdited     = "edited"       // applied, but the file has changed since
	StateOutOfOrder = "out_of_order" // not applied, although a newer one is
)

// Version is one line of a status: a file, or a version without one.
type Version struct {
	Version string `json:"version"`
	Name    string `json:"name"` // the file's name; "" when unknown
	State   string `json:"state"`
}

// state is a database seen from this build.
type state struct {
	known   []migration
	applied map[string]sql.NullString // nil: there is no table of versions
	foreign []string                  // tables that stand where there is none
}

func (s state) versions() []Version {
	newest := ""
	if len(s.applied) > 0 {
		newest = slices.Max(slices.Collect(maps.Keys(s.applied)))
	}
	rest := maps.Clone(s.applied)
	var list []Version
	for _, m := range s.known {
		list = append(list, Version{m.version, m.name, s.stateOf(m, newest)})
		delete(rest, m.version)
	}
	for v := range rest {
		list = append(list, Version{Version: v, State: StateUnknown})
	}
	slices.SortFunc(list, func(a, b Version) int { return strings.Compare(a.Version, b.Version) })
	return list
}

func (s state) stateOf(m migration, newest string) string {
	checksum, applied := s.applied[m.version]
	switch {
	case !applied && m.version < newest:
		return StateOutOfOrder
	case !applied:
		return StatePending
	case checksum.Valid && checksum.String != m.checksum:
		return StateEdited
	}
	return StateApplied
}

// pending and unsigned are what a migrating start has to do.
func (s state) pending() (list []migration) {
	for _, m := range s.known {
		if _, ok := s.applied[m.version]; !ok {
			list = append(list, m)
		}
	}
	return list
}

func (s state) unsigned() (list []migration) {
	for _, m := range s.known {
		if checksum, ok := s.applied[m.version]; ok && !checksum.Valid {
			list = append(list, m)
		}
	}
	return list
}

// refuse returns the first reason not to work with this database: another
// program's tables before an unknown version before an edited one before one
// that is out of order.
func (s state) refuse() error {
	if err := s.refuseForeign(); err != nil {
		return err
	}
	found := map[string][]string{}
	for _, v := range s.versions() {
		found[v.State] = append(found[v.State], cmp.Or(v.Name, v.Version))
	}
	if names := found[StateUnknown]; names != nil {
		return refuse(CodeUnsupported, names, "unsupported_schema: the database has %s, which this build does not know: "+
			"start the newer build that made it, or make a backup and follow docs/operations.md, Going back a release", list("version", names))
	}
	if names := found[StateEdited]; names != nil {
		return refuse(CodeEdited, names, "%s changed after being applied: "+
			"restore the released text and put the change into a new migration", list("migration", names))
	}
	if names := found[StateOutOfOrder]; names != nil {
		return refuse(CodeOutOfOrder, names, "%s out of order, a newer one is already applied: "+
			"give it the next free number", list("migration", names))
	}
	return nil
}

// maxForeign is how many tables of another program a refusal names.
const maxForeign = 3

func (s state) refuseForeign() error {
	if len(s.foreign) == 0 {
		return nil
	}
	shown := strings.Join(s.foreign[:min(maxForeign, len(s.foreign))], ", ")
	if len(s.foreign) > maxForeign {
		shown += ", …"
	}
	return refuse(CodeForeign, s.foreign, "foreign_database: it holds tables of another program (%s) and none of stint's: "+
		"name a database, or on PostgreSQL a schema (?search_path=…), that is stint's own", shown)
}

// list is "migration a" or "migrations a, b".
func list(noun string, names []string) string {
	switch {
	case len(names) > 1 && strings.HasSuffix(noun, "x"):
		noun += "es"
	case len(names) > 1:
		noun += "s"
	}
	return noun + " " + strings.Join(names, ", ")
}

func names(migrations []migration) []string {
	list := make([]string, len(migrations))
	for i, m := range migrations {
		list[i] = m.name
	}
	return list
}
