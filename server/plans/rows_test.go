package plans

import (
	"database/sql"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// record is one row of a table by column; times are coltype.Time.
type record map[string]any

func with(r, changes record) record {
	out := maps.Clone(r)
	maps.Copy(out, changes)
	return out
}

var at = dbtest.T0

// parentID is the id of the rows that others refer to.
const parentID = "parent"

// nameOfRow stands for the name of the row.
type nameOfRow struct{}

// given are the values of a valid row that do not follow from the column types:
// those that a CHECK lists, and nullable ones that an accessor looks for.
var given = map[string]record{
	"idempotency_keys":     {"status": 200},
	"repos":                {"forge": "github", "host": "github.com", "namespace": "acme"},
	"repo_names":           {"forge": "github", "host": "github.com", "namespace": "acme"},
	"job_kinds":            {"lease_seconds": 60, "max_attempts": 5, "backoff_base_seconds": 5, "backoff_cap_seconds": 9},
	"jobs":                 {"kind": "build", "state": "pending", "priority": 3, "attempt": 0, "max_attempts": 5, "key": nameOfRow{}},
	"runs":                 {"kind": "job", "status": "running", "origin": "live", "job_id": nameOfRow{}, "token_hash": nameOfRow{}, "connection_id": nameOfRow{}, "external_run_id": nameOfRow{}, "scheduler_managed": false},
	"proposals":            {"state": "open", "stream": "main", "author": "ada"},
	"proposal_transitions": {"to_state": "open"},

	"connector_streams":     {"semantics": "mutable_state"},
	"connections":           {"source_kind": "account", "status": "active"},
	"connection_tombstones": {"source_kind": "account"},
	"owner_seq":             {"seq": 1 << 40, "floor": 0},
	"partitions":            {"version": 9, "floor_version": 0, "live_count": 9, "undated_count": 0, "bad_time_count": 0},
	"records":               {"dated_by": "data", "first_seq": 1, "bad_time": false},
	"record_versions":       {"dated_by": "data", "seq": 1, "superseded_seq": 2, "deleted": false},
	"ingest_batches":        {"state": "processing"},
}

// full are the values of a row with no NULL, and the NULLs that a CHECK wants
// there all the same.
var full = map[string]record{
	"job_kinds":            {"timeout_seconds": 60},
	"jobs":                 {"state": "claimed", "timeout_seconds": 60, "waiting_for": nil, "finished_at": nil},
	"runs":                 {"status": "failed"},
	"proposals":            {"state": "closed"},
	"proposal_transitions": {"from_state": "open"},
	"connections":          {"status": "revoked"},
	"partitions":           {"refresh_state": "removing"},
	"ingest_batches":       {"state": "accepted", "holder": nil, "lease_expires_at": nil},
}

// planter writes rows into every table of one database.
type planter struct {
	*testing.T
	engine string
	db     *sql.DB
	tables catalog
	owner  string
}

func newPlanter(t *testing.T, s *store.Store, owner string) *planter {
	t.Helper()
	return &planter{t, s.Engine(), dbtest.DB(t, s), newCatalog(t, s), dbtest.Owner(t, s, owner).ID}
}

// valid is the shortest row of a table that every constraint takes.
func (p *planter) valid(table, name string) record {
	return p.row(table, name, func(c column) bool { return !c.nullable && !c.defaulted }, given[table])
}

// filled is a row with a value in every column, as far as one row can have them.
func (p *planter) filled(table, name string) record {
	return p.row(table, name, func(c column) bool { return c.nullable || !c.defaulted }, with(with(record{}, given[table]), full[table]))
}

func (p *planter) row(table, name string, has func(column) bool, values record) record {
	out := record{}
	for _, c := range p.tables[table] {
		value, known := values[c.name]
		if _, itself := value.(nameOfRow); itself {
			value = name
		}
		switch {
		case known && value != nil:
			out[c.name] = value
		case !known && has(c):
			out[c.name] = p.value(c, name)
		}
	}
	return out
}

// value is what a column of its kind takes; numbers differ by the name of the
// row, so that they can be a key.
func (p *planter) value(c column, name string) any {
	switch {
	case c.references == "owners", c.name == "owner_id":
		return p.owner
	case c.references != "":
		return parentID
	case c.time():
		return at
	}
	switch c.kind {
	case "json":
		return "{}"
	case "boolean":
		return true
	case "integer", "bigint":
		return int64(crc32.ChecksumIEEE([]byte(name)))
	}
	return name
}

// time reports whether the values of a column are times.
func (c column) time() bool { return strings.HasSuffix(c.name, "_at") }

// insertParents writes the rows that valid rows of a table refer to, once.
func (p *planter) insertParents(table string) {
	p.Helper()
	for _, c := range p.tables[table] {
		if c.nullable || c.references == "" || c.references == "owners" || p.has(c.references) {
			continue
		}
		p.insertParents(c.references)
		p.insert(c.references, p.valid(c.references, parentID))
	}
}

func (p *planter) has(parent string) (found bool) {
	p.Helper()
	if err := p.db.QueryRowContext(p.Context(), "select exists (select 1 from "+parent+" where id = '"+parentID+"')").Scan(&found); err != nil {
		p.Fatal(err)
	}
	return found
}

// parentsFirst are the tables, each behind those that it refers to.
func (c catalog) parentsFirst() (out []string) {
	var add func(table string)
	add = func(table string) {
		if slices.Contains(out, table) {
			return
		}
		for _, column := range c[table] {
			if column.references != "" {
				add(column.references)
			}
		}
		out = append(out, table)
	}
	for _, table := range slices.Sorted(maps.Keys(c)) {
		add(table)
	}
	return out
}

// try writes one row as the engine wants it.
func (p *planter) try(table string, r record) error {
	p.Helper()
	columns := slices.Sorted(maps.Keys(r))
	var args []any
	var marks []string
	for _, c := range columns {
		if literal, ok := r[c].(sqlText); ok {
			marks = append(marks, string(literal))
			continue
		}
		args = append(args, p.argument(r[c]))
		marks = append(marks, fmt.Sprintf("$%d", len(args)))
	}
	_, err := p.db.ExecContext(p.Context(),
		"insert into "+table+" ("+strings.Join(columns, ", ")+") values ("+strings.Join(marks, ", ")+")", args...)
	return err
}

func (p *planter) argument(value any) any {
	switch v := value.(type) {
	case coltype.Time:
		if p.engine == store.SQLite {
			return v.UnixMicro()
		}
		return v.Time
	case bool:
		if p.engine == store.SQLite {
			return map[bool]int{true: 1}[v]
		}
	}
	return value
}

// sqlText is a value written into the statement as it stands.
type sqlText string

func (p *planter) insert(table string, r record) {
	p.Helper()
	if err := p.try(table, r); err != nil {
		p.Fatalf("insert into %s: %v; if a CHECK lists values, give one in given or full (server/plans/rows_test.go)", table, err)
	}
}
