package plans

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// released are the statements of the newest release.
func released(t *testing.T, engine string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dbtest.Root(t), "schema", "testdata", "[0-9]*", "statements.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no released statements, %v", err)
	}
	text, err := os.ReadFile(slices.Max(files))
	var out map[string]map[string]string
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil || len(out[engine]) < 50 {
		t.Fatalf("%s: %d statements, %v", slices.Max(files), len(out[engine]), err)
	}
	return out[engine]
}

// asked are arguments that a row alone does not tell, by statement.
var asked = map[string]record{
	"JobCancel":       {"Actor": "ada"},
	"JobCompleteMany": {"Rows": `[]`},
	"RunSucceedMany":  {"Rows": `{}`},
	"LoginLinkRevoke": {"Now": at.Add(-time.Second)},
	"JobLockIssues":   {"FirstKey": "a", "EndKey": "z"},
	"JobClaim":        {"Probes": `[{"kind":"build","priority":3,"floor":0,"lease_seconds":60}]`},
	"JobRenew":        {"LeaseSeconds": int64(60)},
	"JobSettle":       {"State": "succeeded", "FinishedAt": at},
	"JobRevive":       {"ExpectedState": "pending", "Actor": "ada"},
	"LeaseRelease":    {"Now": at.Add(-time.Second)},
	"LoginLinkUse":    {"Now": at.Add(-time.Second), "Latest": at.Add(time.Hour)},
	"ProposalMove":    {"FromState": "open", "ToState": "closed", "ClosedAt": at},
	"RunEnd":          {"Status": "succeeded"},
	"TokenInsert":     {"Kind": "bearer"},
}

// took are the parameters of the release where this build's accessor has others.
var took = map[string]any{}

// findNothing are the statements that the planted rows are not for.
var findNothing = map[string]string{
	"IdempotencyKeySetAnswer": "a planted key has its answer",
	"JobCompleteMany":         "its list is empty here",
	"RunSucceedMany":          "its list is empty here",
	"LoginLinkRevokeMade":     "a planted link that nobody used has no maker",
	"JobRequestCancel":        "a planted job that is claimed has the request",
	"TokenSweepSessions":      "a planted token is no session",
}

// A replica of the release before works beside those of this build: its statements are run on this schema, and find the rows that this build
// wrote. That they prepare, as server/kept asks, says nothing of a CHECK, of a column that must have a value, or of SQLite's types.
func TestStatementsOfTheReleaseRunOnRowsOfThisBuild(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		found := map[string]bool{}
		for _, full := range []bool{false, true} {
			put := newRows(t, s, full)
			for name, text := range released(t, s.Engine()) {
				n, err := put.run(name, text)
				if err != nil {
					t.Errorf("%s, full %v: %v; a column that the release does not know needs a default or NULL; or an argument belongs in asked (server/plans/released_test.go)", name, full, err)
				}
				found[name] = found[name] || err == nil && n > 0
			}
		}
		for name, ok := range found {
			if because := findNothing[name]; ok == (because != "") {
				t.Errorf("%s reads or writes a planted row: %v; findNothing (server/plans/released_test.go) says %q", name, ok, because)
			}
		}
	})
}

var returns = regexp.MustCompile(`^select|\breturning\b`)

// run executes a statement with arguments of the planted rows, and undoes it; it tells how many rows were read or written.
func (r rows) run(name, text string) (n int64, err error) {
	tx, err := r.db.BeginTx(r.Context(), nil)
	if err != nil {
		r.Fatal(err)
	}
	defer tx.Rollback()
	st := statement{name, text}
	args := r.arguments(st)
	if !returns.MatchString(st.bare()) {
		done, err := tx.ExecContext(r.Context(), text, args...)
		if err != nil {
			return 0, err
		}
		return done.RowsAffected()
	}
	return count(tx.QueryContext(r.Context(), text, args...))
}

func count(rows *sql.Rows, err error) (n int64, _ error) {
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		n++
	}
	return n, rows.Err()
}

var upper = regexp.MustCompile(`([a-z])([A-Z])`)

var writes = regexp.MustCompile(`(?m)^(insert into|update|delete from) (\w+)`)

// arguments are those of a statement, in its order, which is that of the parameters.
func (r rows) arguments(st statement) (out []any) {
	params := r.parameters(st)
	into := writes.FindStringSubmatch(st.bare())
	for i := range params.NumField() {
		out = append(out, r.argument(r.valueOf(st.name, into, params.Field(i))))
	}
	return out
}

// parameters is a struct of the parameters: those of this build's accessor, if it takes as many.
func (r rows) parameters(st statement) reflect.Type {
	params := reflect.TypeOf(took[st.name])
	if method, ok := querier.MethodByName(st.name); ok && params == nil {
		params = method.Type.In(1)
	}
	if params == nil || params.NumField() != st.arguments() {
		r.Fatalf("%s took %d arguments, and this build has others: write those of the release into took (server/plans/released_test.go)", st.name, st.arguments())
	}
	return params
}

// valueOf is a new row's value for an insert, and else one that finds the planted row or is in it.
func (r rows) valueOf(name string, into []string, field reflect.StructField) any {
	column := strings.TrimPrefix(strings.ToLower(upper.ReplaceAllString(field.Name, "${1}_$2")), "expected_")
	if value, ok := asked[name][field.Name]; ok && value != nil {
		return value
	}
	if into != nil && into[1] == "insert into" {
		row := r.valid(into[2], r.suffix+"-new")
		if field.Name == "Rows" {
			return listOf(row)
		}
		if value, ok := row[column]; ok {
			if value == parentID {
				return r.suffix
			}
			return value
		}
	}
	if value, ok := r.values(name)[field.Name]; ok && reflect.TypeOf(value).ConvertibleTo(base(field.Type)) {
		return value
	}
	if into != nil {
		if value, ok := r.planted[into[2]][column]; ok {
			return value
		}
	}
	return unknown(field.Type)
}

// unknown is the value of a parameter that no row tells.
func unknown(t reflect.Type) any {
	switch {
	case t.Kind() == reflect.Pointer || t == reflect.TypeFor[coltype.JSON]():
		return nil
	case t == reflect.TypeFor[coltype.Time]():
		return at
	}
	return reflect.Zero(t).Interface()
}

func base(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// listOf is a row as a statement takes many of them: one JSON text, its times in microseconds.
func listOf(row record) string {
	out := record{"at": at.UnixMicro()} // of a worker
	for column, value := range row {
		if at, ok := value.(coltype.Time); ok {
			value = at.UnixMicro()
		}
		out[column] = value
	}
	text, err := json.Marshal([]record{out})
	if err != nil {
		panic(err)
	}
	return string(text)
}
