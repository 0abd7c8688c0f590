package plans

import (
	"slices"
	"testing"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// column is what an engine's catalog says of a column.
type column struct {
	name, kind string // the kind as the engine spells it: text, integer, bigint, json, …
	nullable   bool
	defaulted  bool
	references string // the table of its foreign key
}

// catalog is the columns of every table.
type catalog map[string][]column

var catalogSQL = map[string]string{
	store.SQLite: `
		select s.name, c.name, lower(c.type), c."notnull" = 0 and c.pk = 0, c.dflt_value is not null, coalesce(f."table", '')
		from sqlite_schema s
		join pragma_table_xinfo(s.name) c
		left join pragma_foreign_key_list(s.name) f on f."from" = c.name
		where s.type = 'table' and s.name not like 'sqlite%' and s.name <> 'schema_migrations'
		order by s.name, c.cid`,
	store.Postgres: `
		select r.relname, a.attname, format_type(a.atttypid, null), not a.attnotnull, a.atthasdef, coalesce(f.confrelid::regclass::text, '')
		from pg_class r
		join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
		left join pg_constraint f on f.conrelid = r.oid and f.contype = 'f' and f.conkey = array[a.attnum]
		where r.relkind = 'r' and r.relnamespace = 'public'::regnamespace and r.relname <> 'schema_migrations'
		order by r.relname, a.attnum`,
}

func newCatalog(t *testing.T, s *store.Store) catalog {
	t.Helper()
	rows, err := dbtest.DB(t, s).QueryContext(t.Context(), catalogSQL[s.Engine()])
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := catalog{}
	for rows.Next() {
		var table string
		var c column
		if err := rows.Scan(&table, &c.name, &c.kind, &c.nullable, &c.defaulted, &c.references); err != nil {
			t.Fatal(err)
		}
		out[table] = append(out[table], c)
	}
	if rows.Err() != nil || len(out) < 10 {
		t.Fatalf("%d tables, %v", len(out), rows.Err())
	}
	return out
}

// column finds a column of a table.
func (c catalog) column(table, name string) (column, bool) {
	i := slices.IndexFunc(c[table], func(c column) bool { return c.name == name })
	if i < 0 {
		return column{}, false
	}
	return c[table][i], true
}
