package plans

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/store"
)

// checkNulls compares the nullable members of a row with what was planted.
func (r rows) checkNulls(name string, columns []resultColumn, row []reflect.Value) {
	r.Helper()
	if len(columns) != len(row) {
		r.Fatalf("%s: %d columns, %d members", name, len(columns), len(row))
	}
	for i, c := range columns {
		column, stored := r.tables.column(c.table, c.name)
		want := r.planted[c.table][c.name] != nil
		if !stored || !column.nullable || c.optional && !r.full && want {
			continue // a row that may be missing is, unless the row beside it is full
		}
		if row[i].IsZero() == want {
			r.Errorf("%s: %s.%s is %v, planted %v", name, c.table, c.name, row[i], r.planted[c.table][c.name])
		}
	}
}

// members are the members of a row in order, those of rows in it too.
func members(row reflect.Value) (out []reflect.Value) {
	if row.Kind() != reflect.Struct || row.Type().PkgPath() == reflect.TypeFor[coltype.Time]().PkgPath() {
		return []reflect.Value{row}
	}
	for i := range row.NumField() {
		out = append(out, members(row.Field(i))...)
	}
	return out
}

// resultColumn is where a member of a result comes from; no table if it is worked out.
type resultColumn struct {
	table, name string
	optional    bool
}

// results are the result columns of each statement, in order.
func results(t *testing.T) map[string][]resultColumn {
	t.Helper()
	out := map[string][]resultColumn{}
	for _, st := range statements(t, store.SQLite) {
		scopes := st.scopes()
		if len(scopes) == 0 || scopes[len(scopes)-1].selected == nil {
			continue
		}
		outer := scopes[len(scopes)-1]
		for _, item := range split(outer.selected, ",") {
			out[st.name] = append(out[st.name], outer.result(item))
		}
	}
	return out
}

func (s *scope) result(item []string) resultColumn {
	alias, name, qualified := strings.Cut(item[0], ".")
	if len(item) > 1 && item[1] != "as" {
		return resultColumn{}
	}
	for _, from := range s.sources {
		if qualified && from.alias == alias {
			return resultColumn{from.table, name, from.optional}
		}
	}
	return resultColumn{table: s.sources[0].table, name: alias}
}
