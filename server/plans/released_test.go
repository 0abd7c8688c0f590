package plans

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/schema/next"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// build is a recorded release, or this build, with its statements.
type build struct {
	name       string
	statements map[string]string
}

const thisBuild = "this build" // follows the numbers of the releases

// builds are the recorded releases, the oldest first, and this build.
func builds(t *testing.T, engine string) (out []build) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dbtest.Root(t), "schema", "testdata", "[0-9]*", "statements.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no released statements, %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		var all map[string]map[string]string
		if err == nil {
			err = json.Unmarshal(text, &all)
		}
		if err != nil || len(all[engine]) < 30 {
			t.Fatalf("%s: %d statements, %v", file, len(all[engine]), err)
		}
		out = append(out, build{filepath.Base(filepath.Dir(file)), all[engine]})
	}
	return append(out, build{thisBuild, dbtest.Statements(t, engine)})
}

// coming is a store on the schema of the build after this one.
func coming(t *testing.T, engine string) *store.Store {
	t.Helper()
	url := dbtest.Fresh(t, engine)
	files, err := next.After(os.DirFS(filepath.Join(dbtest.Root(t), "schema")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := schema.Migrate(t.Context(), schema.Options{URL: url, FS: files}); err != nil {
		t.Fatal(err)
	}
	return dbtest.Open(t, store.Config{URL: url})
}

// asked are arguments that a row alone does not tell, by statement.
var asked = map[string]record{
	"JobCancel":             {"Actor": "ada"},
	"JobCompleteMany":       {"Rows": `{"full":{"lease_token":"full","result":{}}}`},
	"RunSucceedMany":        {"Rows": fmt.Sprintf(`{"null":{"completed_at":%d}}`, at.UnixMicro())},
	"LoginLinkRevoke":       {"Now": at.Add(-time.Second)},
	"JobClaim":              {"Probes": `[{"kind":"build","priority":3,"floor":0,"lease_seconds":60}]`},
	"JobRenew":              {"LeaseSeconds": int64(60)},
	"JobSettle":             {"State": "succeeded", "FinishedAt": at},
	"JobRevive":             {"ExpectedState": "pending", "Actor": "ada"},
	"LeaseRelease":          {"Now": at.Add(-time.Second)},
	"LoginLinkUse":          {"Now": at.Add(-time.Second), "Latest": at.Add(time.Hour)},
	"PartitionBeginRefresh": {"Streams": `["new"]`},
	"ProposalMove":          {"FromState": "open", "ToState": "closed", "ClosedAt": at},
	"RunEnd":                {"Status": "succeeded"},
	"RunFinish":             {"Status": "succeeded", "Generation": int64(1)},
	"RunRenew":              {"Generation": int64(1)},
	"TokenInsert":           {"Kind": "bearer"},
	"BatchAccept":           {"Holder": "h", "Answer": "{}"},
	"BatchAdvance":          {"Holder": "h"},
	"BatchInsert":           {"Holder": "h"},
	"BatchRelease":          {"Holder": "h"},
	"BatchTake":             {"Holder": "h"},

	"PartitionInsertMany": {"Streams": `["new"]`},
	"PartitionLockMany":   {"Rows": partitionFull},
	"PartitionSetMany":    {"Rows": `[{"connection_id":"full","stream":"full","version":1099511627776,"live_count":1,"undated_count":0,"bad_time_count":0,"last_seq":1}]`},
	"PartitionSetTimes":   {"Rows": partitionFull},
	"RecordSetMany":       {"Rows": `[{"id":"full","hash":"h","sort_at":0,"dated_by":"data","bad_time":false,"seq":1099511627776,"version":1,"seen_generation":1}]`},
	"VersionKeep":         {"Rows": `[{"id":"full","superseded_seq":1099511627776}]`},

	"ConnectionInsert":    {"Actor": "ada"},
	"ConnectionRename":    {"Actor": "ada"},
	"ConnectionSetStatus": {"Actor": "ada", "FromStatus": "active", "ToStatus": "revoked", "RevokedAt": at},
}

// before makes the planted rows those that a statement is for.
var before = map[string]string{
	"IdempotencyKeySetAnswer": "update idempotency_keys set status = 0",
	"JobCompleteMany":         "update jobs set again = null",
	"JobRequestCancel":        "update jobs set cancel_requested_at = null",
	"LoginLinkRevokeMade":     "update login_links set used_at = null, revoked_at = null",
	"PartitionBeginRemoval":   "update partitions set refresh_run_id = connection_id where refresh_state is not null",
	"PartitionCancelRefresh":  "update partitions set refresh_run_id = connection_id where refresh_state is not null",
	"RunFinish":               "update runs set generation = 1",
	"RunListOverdue":          "update runs set lease_expires_at = started_at",
	"RunLockOverdue":          "update runs set lease_expires_at = started_at",
	"RunRenew":                "update runs set generation = 1",
	"TokenSweepSessions":      "update tokens set kind = 'session'",
	"BatchAccept":             heldBatch,
	"BatchAdvance":            heldBatch,
	"BatchRelease":            heldBatch,

	"VersionKeep": "update records set version = version - 1",

	"ConnectionActivate":        "update connections set status = 'draft', revoked_at = null",
	"ConnectionListByConnector": "update connections set status = 'active', revoked_at = null",
	"ConnectionSetStatus":       "update connections set status = 'active', revoked_at = null",
}

const partitionFull = `[{"connection_id":"full","stream":"full"}]`

const heldBatch = "update ingest_batches set state = 'processing', answer = null, accepted_at = null, holder = 'h', lease_expires_at = created_at"

// A replica of a release works beside those of this build while an upgrade lasts, and one of this build beside those of the next. So
// all their statements are run on the coming schema, and find the rows that are written there. That they prepare, as server/kept asks,
// says nothing of a CHECK, of a column that must have a value, or of SQLite's types.
func TestStatementsOfOlderBuildsRunOnTheComingSchema(t *testing.T) {
	t.Parallel()
	dbtest.Engines(t, func(t *testing.T, engine string) {
		s := coming(t, engine)
		pair := []rows{newRows(t, s, false), newRows(t, s, true)}
		ran := map[string]bool{} // by text: most statements are those of the release before
		for _, b := range builds(t, engine) {
			for name, text := range b.statements {
				if !ran[text] {
					ran[text] = true
					finds(t, pair, b, name)
				}
			}
		}
	})
}

// finds runs a statement of a build for each of the planted rows.
func finds(t *testing.T, pair []rows, b build, name string) {
	t.Helper()
	found := false
	for _, r := range pair {
		n, err := r.run(b, name)
		if err != nil {
			t.Errorf("%s of %s, full %v: %v; a column that the build does not know needs a default or NULL; or an argument belongs in asked (server/plans/released_test.go)", name, b.name, r.full, err)
		}
		found = found || n > 0 || err != nil
	}
	if !found {
		t.Errorf("%s of %s neither reads nor writes a planted row: give it one by asked or before (server/plans/released_test.go)", name, b.name)
	}
}

var returns = regexp.MustCompile(`^select|\breturning\b`)

// run executes a statement with arguments of the planted rows, and undoes it; it tells how many rows were read or written.
func (r rows) run(b build, name string) (n int64, err error) {
	tx, err := r.db.BeginTx(r.Context(), nil)
	if err != nil {
		r.Fatal(err)
	}
	defer tx.Rollback()
	if change := before[name]; change != "" {
		if _, err := tx.ExecContext(r.Context(), change); err != nil {
			r.Fatal(err)
		}
	}
	st := statement{name, b.statements[name]}
	args := r.arguments(b, st)
	if !returns.MatchString(st.bare()) {
		done, err := tx.ExecContext(r.Context(), st.sql, args...)
		if err != nil {
			return 0, err
		}
		return done.RowsAffected()
	}
	return count(tx.QueryContext(r.Context(), st.sql, args...))
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
func (r rows) arguments(b build, st statement) (out []any) {
	params := r.parameters(b, st)
	into := writes.FindStringSubmatch(st.bare())
	for i := range params.NumField() {
		out = append(out, r.argument(r.valueOf(st.name, into, params.Field(i))))
	}
	return out
}

// parameters is a struct of the parameters: those of this build's accessor, if it takes as many.
func (r rows) parameters(b build, st statement) reflect.Type {
	params := tookBy(b, st.name)
	if method, ok := querier.MethodByName(st.name); ok && params == nil {
		params = method.Type.In(1)
	}
	if params == nil || params.NumField() != st.arguments() {
		r.Fatalf("%s of %s took %d arguments, and this build has others: write those of the release into took (server/plans/took_test.go)", st.name, b.name, st.arguments())
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
