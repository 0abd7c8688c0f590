package plans

import (
	"strings"
	"testing"

	"github.com/stint-run/stint/server/store"
)

const (
	both = "both"
	none = "none"
)

// planted are lists as nobody should write them, and some as they should be.
// Placeholders and ANY(…)END, the rows of a sub-select, become those of the engine.
var planted = []struct {
	name, sql string
	passes    string // on which engine
}{
	{"a keyset page", `select id from jobs where owner_id = $1 and (created_at, id) < ($2, $3) order by created_at desc, id desc limit 10`, both},
	{"a keyset of ORs", `select id from jobs where owner_id = $1 and (created_at < $2 or (created_at = $2 and id < $3)) order by created_at desc, id desc limit 10`, none},
	{"an optional filter", `select id from jobs where owner_id = $1 and ($4 is null or state = $4) and (created_at, id) < ($2, $3) order by created_at desc, id desc limit 10`, none},
	{"an optional filter alone", `select id from jobs where ($1 is null or state = $1) limit 10`, none},
	{"an optional cursor", `select id from jobs where owner_id = $1 and ($2 is null or (created_at, id) < ($2, $3)) order by created_at desc, id desc limit 10`, none},
	{"a filter its index does not lead with", `select id from jobs where owner_id = $1 and kind = $4 and (created_at, id) < ($2, $3) order by created_at desc, id desc limit 10`, none},
	{"a sort", `select id from jobs where owner_id = $1 order by updated_at desc limit 10`, none},
	{"a sort of a page", `select id from jobs where owner_id = $1 and (created_at, id) < ($2, $3) order by created_at desc, id limit 10`, none},
	{"half a keyset", `select id from jobs where owner_id = $1 and created_at <= $2 and (created_at, id) < ($2, $3) and state = 'failed' order by id desc limit 10`, none},
	{"a range behind a gap", `select id from runs where owner_id = $1 and status = 'failed' and id < 'run_5' limit 10`, none},
	{"a scan", `select id from jobs where lower(kind) = $1 limit 10`, none},
	{"a count of everything", `select count(*) from jobs where kind = $1`, none},
	{"an offset", `select id from jobs order by created_at desc, id desc limit 10 offset 1000`, none},
	{"a claim over kinds", `update jobs set state = 'claimed' where id in (select j.id from jobs j where j.owner_id = $1 and j.state = 'pending' and j.waiting_for is null and j.kind in ('a', 'b') and j.run_at <= $2 order by j.priority, j.run_at, j.id limit 5)`, none},
	{"a condition that its own index misses", `select id from jobs where owner_id = $1 and (created_at, id) < ($2, $3) and priority > 3 order by created_at desc, id desc limit 10`, none},
	{"a condition twice, one index term", `select id from jobs where owner_id = $1 and state = $3 and state = 'failed' and created_at < $2 order by created_at desc, id desc limit 10`, store.Postgres}, // which seeks by both
	{"a page behind a key of another table", `select p.id from proposals p where p.repo_id = (select r.id from repos r where r.id = $1 and r.owner_id = $4) and (p.created_at, p.id) < ($2, $3) order by p.created_at desc, p.id desc limit 10`, both},
	{"a condition behind a key of another table", `select p.id from proposals p where p.repo_id = (select r.id from repos r where r.id = $1) and p.head = $4 and (p.created_at, p.id) < ($2, $3) order by p.created_at desc, p.id desc limit 10`, none},
	{"an optional filter behind a key of another table", `select p.id from proposals p where p.repo_id = (select r.id from repos r where r.id = $1) and ($4 is null or p.state = $4) and (p.created_at, p.id) < ($2, $3) order by p.created_at desc, p.id desc limit 10`, none},
	{"a keyset of ORs behind a key of another table", `select p.id from proposals p where p.repo_id = (select r.id from repos r where r.id = $1 and r.owner_id = $4) and (p.created_at < $2 or (p.created_at = $2 and p.id < $3)) order by p.created_at desc, p.id desc limit 10`, none},
	{"a keyset of another alias", `select r.id from runs r join jobs j on j.id = r.job_id where r.owner_id = $1 and r.status = $4 and (j.created_at, j.id) < ($2, $3) order by r.created_at desc, r.id desc limit 10`, none},
	{"a condition of a joined row", `select r.id from runs r join jobs j on j.id = r.job_id where r.owner_id = $1 and j.kind = $4 and (r.created_at, r.id) < ($2, $3) order by r.created_at desc, r.id desc limit 10`, none},
	{"a condition of a joined row, beside it", `select r.id from runs r join jobs j on j.id = r.job_id and j.kind = $4 where r.owner_id = $1 and (r.created_at, r.id) < ($2, $3) order by r.created_at desc, r.id desc limit 10`, none},
	{"a comparison of two joined rows", `select r.id from runs r join jobs j on j.id = r.job_id where r.owner_id = $1 and j.updated_at > r.created_at and (r.created_at, r.id) < ($2, $3) order by r.created_at desc, r.id desc limit 10`, none},
	{"a condition of a row that may be missing", `select r.id, j.state from runs r left join jobs j on j.id = r.job_id and j.kind = $4 where r.owner_id = $1 and (r.created_at, r.id) < ($2, $3) order by r.created_at desc, r.id desc limit 10`, both},
	{"a filter on a row that may be missing", `select r.id from runs r left join jobs j on j.id = r.job_id where r.owner_id = $1 and coalesce(j.kind, '') = $4 and (r.created_at, r.id) < ($2, $3) order by r.created_at desc, r.id desc limit 10`, none},
	{"a condition of a row by its key, with its joined row", `select r.id from runs r join jobs j on j.id = r.job_id where r.id = $1 and r.owner_id = $3 and j.kind = $4 and ($2 is null or r.created_at < $2)`, both},
	{"a condition of the rows that a sub-select has", `select j.id from jobs j where j.id in (select r.job_id from runs r where r.owner_id = $1 and r.status = 'running') and j.kind = 'kind1' limit 10`, none},
	{"a condition of the rows that an array has", `select j.id from jobs j where j.id ANY(select r.job_id from runs r where r.owner_id = $1 and r.status = 'running')END and j.kind = 'kind1' limit 10`, none},
	{"a condition of the rows that a short array has", `select j.id from jobs j where j.id ANY(select r.job_id from runs r where r.owner_id = $1 and r.status = 'running' limit 5)END and j.kind = 'kind1' limit 10`, both},
	{"a condition in a sub-select that shares an alias", `select (select count(*) from (select p.id from proposals p where p.repo_id = r.id and p.state = 'open' limit 10) c), (select count(*) from (select p.id from proposals p where p.repo_id = r.id and p.state = 'open' and p.title = 't' limit 10) c) from repos r where r.id = $1`, none},
	{"a key between two rows", `select r.id, $2 from records r where (r.connection_id, r.stream, r.key) >= ($1, $3, $4) and (r.connection_id, r.stream, r.key) <= ($1, $3, $4) order by r.connection_id, r.stream, r.key limit 1`, store.SQLite}, // which ends its scan there
	{"a row that exists", `select j.id from jobs j where j.owner_id = $1 and exists (select 1 from runs r where r.owner_id = j.owner_id and r.job_id = j.id) and (j.created_at, j.id) < ($2, $3) order by j.created_at desc, j.id desc limit 10`, none},
	{"a key that is NULL", `select id from jobs where owner_id = $1 and key is null and finished_at is null and kind = 'kind1' limit 10`, none},
}

// refusePlanted: the gate refuses those alone.
func refusePlanted(t *testing.T, engine string, g gate) {
	t.Helper()
	for _, tt := range planted {
		sql := strings.NewReplacer("$", "?", "ANY", " in ", "END", "").Replace(tt.sql)
		if engine == store.Postgres {
			sql = strings.NewReplacer("ANY", "= any(array", "END", ")",
				"$1", "cast($1 as text)", "$2", "cast($2 as timestamptz)", "$3", "cast($3 as text)", "$4", "cast($4 as text)").Replace(tt.sql)
		}
		faults, err := g.faults(t.Context(), statement{"Planted", sql})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if (len(faults) == 0) != (tt.passes == both || tt.passes == engine) {
			t.Errorf("%s: %q", tt.name, faults)
		}
	}
}

// refuseBesideResidual: what residual lists excuses its column and nothing
// beside it.
func refuseBesideResidual(t *testing.T, g gate, all []statement) {
	t.Helper()
	for _, st := range all {
		alias, column, listed := strings.Cut(residual[st.name], ".")
		if !listed {
			continue
		}
		st.sql = strings.Replace(st.sql, "order by", "and "+alias+".kind > "+alias+".owner_id order by", 1)
		faults, err := g.faults(t.Context(), st)
		if err != nil || len(faults) != 1 || !strings.Contains(faults[0], "kind") {
			t.Errorf("%s may test %s, and a second condition has the faults %q, %v", st.name, column, faults, err)
		}
	}
}
