package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBadQueriesAreRefused feeds what sqlc makes of bad queries. A case's
// want.txt is the whole of stderr.
func TestBadQueriesAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"any-argument", "argument-without-space", "differences", "do-update", "house-rules",
		"lost-clauses", "lost-statements", "slice", "uncast-sum",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := copyCase(t, name)
			before := files(t, dir)
			code, stderr := runIn(dir)
			if code != 1 {
				t.Errorf("exit code %d", code)
			}
			want := filepath.Join("testdata", name, "want.txt")
			if *update {
				writeFile(t, want, stderr)
			}
			if diff := cmp.Diff(readFile(t, want), stderr); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, files(t, dir)); diff != "" {
				t.Errorf("a refused run wrote files: %s", diff)
			}
		})
	}
}

// edit stands for a mistake that the pinned sqlc does not make, or that takes
// a schema of its own: one replacement in the good case.
type edit struct {
	name, file, old, new string
	want                 []string // lines of stderr
}

const (
	pgJobs     = "gen/postgres/jobs.sql.go"
	pgModels   = "gen/postgres/models.go"
	liteJobs   = "gen/sqlite/jobs.sql.go"
	liteModels = "gen/sqlite/models.go"
	shared     = "queries/shared/jobs.sql"
)

var argumentEdits = []edit{
	{"a gap in the numbers", liteJobs, "id = ?1 and owner_id = ?2", "id = ?1 and owner_id = ?3", []string{
		"sqlite: JobDelete: placeholder 3 has no argument, the call passes 2",
		"sqlite: JobDelete: argument 2 (OwnerID) has no placeholder in the SQL",
	}},
	{"a bare placeholder counts from the largest", liteJobs, "id = ?1 and owner_id = ?2", "id = ?2 and owner_id = ?", []string{
		"sqlite: JobDelete: placeholder 3 has no argument, the call passes 2",
		"sqlite: JobDelete: argument 1 (ID) has no placeholder in the SQL",
		"sqlite: JobDelete: ?2 is passed OwnerID where shared/jobs.sql has @id",
	}},
	{"a number below one", pgJobs, "id = $1 and owner_id = $2", "id = $0 and owner_id = $2", []string{
		"postgres: JobDelete: placeholder 0 has no argument, the call passes 2",
	}},
	{"a field that is not passed", pgJobs, "JobDelete, arg.ID, arg.OwnerID", "JobDelete, arg.ID", []string{
		"postgres: JobDelete: field JobDeleteParams.OwnerID never reaches the call",
		"postgres: JobDelete: placeholder 2 has no argument, the call passes 1",
		"postgres: JobDelete: @owner_id never reaches the call",
	}},
	{"arguments that changed places", liteJobs, "JobDelete, arg.ID, arg.OwnerID", "JobDelete, arg.OwnerID, arg.ID", []string{
		"sqlite: JobDelete: ?1 is passed OwnerID where shared/jobs.sql has @id",
		"sqlite: JobDelete: ?2 is passed ID where shared/jobs.sql has @owner_id",
	}},
	{"arguments gathered in a slice", liteJobs, "JobDelete, arg.ID, arg.OwnerID", "JobDelete, params...", []string{
		"sqlite: JobDelete: sqlc.slice: pass a row set as one JSON text argument",
	}},
	{"a mark of sqlc.slice", liteJobs, "id = ?1 and owner_id = ?2", "id in (/*SLICE:ids*/?) and owner_id = ?2", []string{
		"sqlite: JobDelete: sqlc.slice: pass a row set as one JSON text argument",
	}},
	{"a raw name in SQLite's other form", liteJobs, "id = ?1 and owner_id = ?2", "id = :id and owner_id = ?2", []string{
		"sqlite: JobDelete: :id was left in the SQL: sqlc lost the argument",
	}},
	{"a call that sqlc left", pgJobs, "id = $1 and owner_id = $2", "id = sqlc.arg(id) and owner_id = $2", []string{
		"postgres: JobDelete: a call of sqlc.arg was left in the SQL",
	}},
	{"a method without a call", pgJobs, "q.db.Exec(ctx, JobDelete,", "q.db.Exec(ctx, missing,", []string{
		"postgres: JobDelete: makes no call with an SQL text",
	}},
}

var textEdits = []edit{
	{"another word", liteJobs, "delete from jobs", "delete from runs", []string{
		`sqlite: JobDelete: the generated SQL has "runs" where shared/jobs.sql has "jobs"`,
	}},
	{"a value instead of an argument", pgJobs, "id = $1 and owner_id = $2", "id = 'x' and owner_id = $2", []string{
		`postgres: JobDelete: the generated SQL has "'x'" where shared/jobs.sql has @id`,
	}},
	{"an end too early", pgJobs, "select count(*) from jobs where owner_id = $1\n", "select count(*) from jobs\n", []string{
		`postgres: JobCount: the generated SQL ends before "where" of shared/jobs.sql`,
	}},
	{"text after the end", pgJobs, "delete from jobs where id = $1 and owner_id = $2", "delete from jobs where id = $1 and owner_id = $2 or true", []string{
		`postgres: JobDelete: the generated SQL goes on with "or" after the end of shared/jobs.sql`,
	}},
	{"a statement that came out under no name", shared, "-- name: JobCount :one", "-- name: JobAmount :one", []string{
		"postgres: JobAmount: sqlc made no accessor of shared/jobs.sql:1",
		"postgres: JobCount: no statement of that name under queries/, but jobs.sql.go has its accessor",
	}},
	{"a statement in two folders", shared, "-- name: JobCount :one", "-- name: JobClaim :many\n-- Twice.\nselect 1;\n\n-- name: JobCount :one", []string{
		"postgres/jobs.sql:1: JobClaim: shared/jobs.sql has a statement of that name too",
		"sqlite/jobs.sql:1: JobClaim: shared/jobs.sql has a statement of that name too",
	}},
}

var shapeEdits = []edit{
	{"an enum", pgModels, "// A unit of work.", "type JobState string\n\n// A unit of work.", []string{
		"postgres: type JobState: only structs can be shared (no enums: use text and a CHECK)",
	}},
	{"a function of one engine", liteModels, "type Job struct", "func Jobs() {}\n\ntype Job struct", []string{
		"sqlite: Jobs: only methods of *Queries can be shared",
	}},
	{"a type of the driver", pgModels, "RunAt      coltype.Time", "RunAt      pgtype.Timestamptz", []string{
		"postgres: Job.RunAt: pgtype.Timestamptz is no shared type: see the overrides in sqlc.yaml",
		"Job.RunAt: pgtype.Timestamptz in postgres, coltype.Time in sqlite",
	}},
	{"an untyped field", liteModels, "Priority   int64", "Priority   interface{}", []string{
		"sqlite: Job.Priority: sqlc found no type: cast the argument or the column",
	}},
	{"an untyped result", liteJobs, "arg JobLockParams) (string, error)", "arg JobLockParams) (interface{}, error)", []string{
		"sqlite: JobLock: sqlc found no type: cast the argument or the column",
		"JobLock: returns (string, error) in postgres, (interface{}, error) in sqlite",
	}},
	{"another parameter", liteJobs, "JobLock(ctx context.Context, arg JobLockParams)", "JobLock(ctx context.Context, id string)", []string{
		"JobLock: takes (context.Context, JobLockParams) in postgres, (context.Context, string) in sqlite",
	}},
	{"another tag", pgModels, "Priority int64", "Priority int64 `json:\"p\"`", []string{
		"Job.Priority: tag `json:\"p\"` in postgres,  in sqlite",
	}},
	{"another comment on a table", liteModels, "type Job struct", "// A run.\ntype Job struct", []string{
		`Job: comment differs: "A unit of work.\n" in postgres, "A run.\n" in sqlite`,
	}},
	{"another comment on a column", liteModels, "Note       *string", "Note       *string // Mine.", []string{
		`Job.Note: comment differs: "What a person wrote about it." in postgres, "Mine." in sqlite`,
	}},
	{"a struct that one side lacks", liteModels, "type Job struct", "type Task struct", []string{
		"Job: missing in sqlite", "Task: missing in postgres",
	}},
	{"a struct in another file", liteModels, "type Job struct", "type JobLockParams struct {\n\tID string\n}\n\ntype Job struct", []string{
		"JobLockParams: in jobs.sql.go for postgres, in models.go for sqlite",
	}},
}

func TestMistakesInGeneratedCodeAreRefused(t *testing.T) {
	t.Parallel()
	for _, group := range [][]edit{argumentEdits, textEdits, shapeEdits} {
		for _, tt := range group {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				tt.check(t)
			})
		}
	}
}

func (e edit) check(t *testing.T) {
	dir := copyCase(t, "good")
	name := filepath.Join(dir, e.file)
	text := readFile(t, name)
	if !strings.Contains(text, e.old) {
		t.Fatalf("%s does not hold %q", e.file, e.old)
	}
	writeFile(t, name, strings.Replace(text, e.old, e.new, 1))
	code, stderr := runIn(dir)
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
	for _, line := range e.want {
		if !strings.Contains(stderr, "twin: "+line+"\n") {
			t.Errorf("stderr lacks %q:\n%s", line, stderr)
		}
	}
}
