package plans

import (
	"cmp"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/store"
)

var (
	querier = reflect.TypeFor[model.Querier]()
	reader  = reflect.TypeFor[model.Reader]()
	errUndo = errors.New("undo")
)

// call runs one accessor with a parameter struct that set has filled.
func call(t *testing.T, on any, method string, set func(params reflect.Value)) (result reflect.Value, err error) {
	t.Helper()
	fn := reflect.ValueOf(on).MethodByName(method)
	params := reflect.New(fn.Type().In(1)).Elem()
	set(params)
	out := fn.Call([]reflect.Value{reflect.ValueOf(t.Context()), params})
	err, _ = out[len(out)-1].Interface().(error)
	return out[0], err
}

// lists are the arguments that carry a JSON list.
var lists = map[string]string{"Rows": `[{}]`, "Probes": `[{"owner_id":"o","kind":"a","priority":1,"lease_seconds":60}]`, "Ids": `["a"]`, "Names": `["a"]`, "Keys": `["a"]`, "Makers": `["a"]`, "Hosts": `["a"]`, "Streams": `["a"]`, "Hashes": `["a"]`}

// objects are the statements that take their rows as a JSON object by id.
var objects = map[string]string{"JobCompleteMany": `{"a":{}}`, "RunSucceedMany": `{"a":{}}`}

// GEN-01: a wrong number of arguments shows only when a statement runs.
func TestEveryAccessorRunsWithTheArgumentsItHas(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		for i := range querier.NumMethod() {
			name := querier.Method(i).Name
			var got error
			err := s.Tx(t.Context(), func(q model.Querier) error {
				_, got = call(t, q, name, func(params reflect.Value) {
					for field, text := range lists {
						if f := params.FieldByName(field); f.IsValid() {
							f.SetString(cmp.Or(objects[name], text))
						}
					}
				})
				return errUndo
			})
			if !errors.Is(err, errUndo) {
				t.Fatal(err)
			}
			if got != nil && !store.NotFound(got) && !constraint(got) {
				t.Errorf("%s: %v; is an argument a JSON list that belongs in lists (server/plans/accessors_test.go)?", name, got)
			}
		}
	})
}

// constraint reports whether the engine ran the statement and a constraint
// refused the row.
func constraint(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return strings.HasPrefix(pg.Code, "23")
	}
	var lite *sqlite.Error
	return errors.As(err, &lite) && lite.Code()&0xff == 19
}

// GEN-02: a row whose nullable columns are NULL, and one whose are not, through
// every accessor that reads rows.
func TestNullsAndValuesOfEveryNullableColumnAreRead(t *testing.T) {
	t.Parallel()
	results := results(t)
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		for _, full := range []bool{false, true} {
			put := newRows(t, s, full)
			for i := range reader.NumMethod() {
				name := reader.Method(i).Name
				if full && (name == "ProposalGetOpen" || name == "ProposalCountOpen" || name == "RunGetActive" || name == "ConnectionListByConnector") {
					continue // one whose closed_at, completed_at or revoked_at is set is not open, running or in use
				}
				result, err := call(t, s, name, put.params)
				if err != nil {
					t.Errorf("%s, full %v: %v; are its arguments those of a row, in params (server/plans/accessors_test.go)?", name, full, err)
					continue
				}
				if result.Kind() == reflect.Slice {
					if result.Len() == 0 {
						if name == "JobListOverdue" && !full || name == "JobListHolders" && !full || name == "JobListFirstDue" && full || name == "TokenListMade" && !full || name == "RunListOverdue" || name == "RecordListDeleted" && !full || name == "RunWalkOfConnection" && !full {
							continue // a pending job has no lease to be overdue, a claimed one is not due, nobody made a token of the command line, a running run without NULLs is none, a record that is live was not deleted, a run without a generation is of no connection
						}
						t.Errorf("%s, full %v: no rows; are its arguments those of a row, in params (server/plans/accessors_test.go)?", name, full)
						continue
					}
					result = result.Index(0)
				}
				if result.Kind() == reflect.Struct {
					put.checkNulls(name, results[name], members(result))
				} else if result.IsZero() {
					t.Errorf("%s, full %v: %v; are its arguments those of a row, in params (server/plans/accessors_test.go)?", name, full, result)
				}
			}
		}
	})
}

// Every statement that takes an owner is asked by another one for the planted rows, with all else that it filters by.
// The same statement finds them for their owner, as the test before shows.
func TestAStrangerReadsNoRow(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		for _, full := range []bool{false, true} {
			put, asked := newRows(t, s, full), 0
			for i := range reader.NumMethod() {
				name, stranger := reader.Method(i).Name, false
				result, err := call(t, s, name, func(params reflect.Value) {
					put.params(params)
					if owner := params.FieldByName("OwnerID"); owner.IsValid() {
						owner.SetString("stranger")
						stranger = true
					}
				})
				if !stranger {
					continue
				}
				asked++
				none := err == nil && (result.Kind() == reflect.Slice && result.Len() == 0 || result.Kind() != reflect.Slice && result.IsZero())
				if !none && !store.NotFound(err) {
					t.Errorf("%s, full %v: a stranger reads %v, %v", name, full, result, err)
				}
			}
			if asked < 20 {
				t.Errorf("only %d statements were asked", asked)
			}
		}
	})
}

// rows are one row of every table.
type rows struct {
	*planter
	full                            bool
	planted                         map[string]record
	suffix, state, status, proposal string
}

func newRows(t *testing.T, s *store.Store, full bool) rows {
	t.Helper()
	r := rows{planted: map[string]record{}, full: full, suffix: "null", state: "pending", status: "running", proposal: "open"}
	if full {
		r.suffix, r.state, r.status, r.proposal = "full", "claimed", "failed", "closed"
	}
	r.planter = newPlanter(t, s, r.suffix)
	dbtest.SQL(t, s, "update owners set name = $1 where id = $2", r.suffix, r.owner)
	for _, table := range r.tables.parentsFirst() {
		row := r.valid(table, r.suffix)
		if full {
			row = r.filled(table, r.suffix)
		}
		for column, value := range row {
			if value == parentID {
				row[column] = r.suffix
			}
		}
		if table != "owners" { // the planter made one
			r.insert(table, row)
		}
		r.planted[table] = row
	}
	return r
}

// values are the arguments by which a statement finds those rows, by the name of the parameter.
func (r rows) values(statement string) map[string]any {
	values := map[string]any{
		"OwnerID": r.owner, "ID": r.suffix, "Name": r.suffix, "Key": r.suffix, "JobID": r.suffix, "State": r.state, "Status": r.status,
		"TokenHash": r.suffix, "Hash": r.suffix, "Forge": "github", "Host": "github.com", "Namespace": "acme",
		"ConnectionID": r.suffix, "ExternalRunID": r.suffix, "AfterID": "a", "BatchID": r.suffix, "RepoID": r.suffix, "RunID": r.suffix, "ProposalID": r.suffix, "Stream": "main", "Head": r.suffix, "Author": "ada", "Counted": int64(10), "MaxRepos": int64(10), "FirstKey": "a", "EndKey": "z", "FullName": "acme/" + r.suffix,
		"Principal": r.suffix, "Route": r.suffix, "Ids": `["` + r.suffix + `"]`, "Names": `["` + r.suffix + `"]`, "Keys": `["` + r.suffix + `"]`, "Makers": `["` + r.suffix + `"]`, "Hosts": `["github.com"]`, "Hashes": `["` + r.suffix + `"]`,
		"ConnectorID": r.suffix, "SourceKind": "account", "BindingKey": r.suffix, "AfterConnectorID": "a", "AfterAt": at.Add(-time.Hour),
		"AfterName": "a", "AfterKey": "a", "AfterStream": "a", "AfterConnectionID": "a", "AfterDay": int64(0), "AfterHash": "a", "BeforeHash": "z", "Now": at, "Probes": `[{"owner_id":"` + r.owner + `","kind":"build","priority":3}]`, "Cutoff": at.Add(time.Hour), "Latest": at.Add(-time.Hour), "BeforeAt": keyset.Top().At, "BeforeID": keyset.Top().ID, "BeforeGeneration": int64(math.MaxInt64), "Max": int64(10), "UpTo": int64(math.MaxUint32), // rows take a checksum as their version
	}
	switch statement {
	case "KindPage":
		values["AfterName"] = "f"
	case "RecordListByKeys":
		values["Rows"] = `[{"stream":"` + r.suffix + `","key":"` + r.suffix + `"}]`
	}
	if strings.HasPrefix(statement, "Proposal") {
		values["State"] = r.proposal
	} else {
		values["Stream"] = r.suffix // of a source
	}
	return values
}

// params points a parameter struct at those rows.
func (r rows) params(p reflect.Value) {
	for name, value := range r.values(strings.TrimSuffix(p.Type().Name(), "Params")) {
		f := p.FieldByName(name)
		if !f.IsValid() {
			continue
		}
		v := reflect.ValueOf(value)
		if f.Kind() == reflect.Pointer {
			pointer := reflect.New(f.Type().Elem())
			pointer.Elem().Set(v)
			v = pointer
		}
		f.Set(v)
	}
}
