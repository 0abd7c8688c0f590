package plans

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// uneven are the rows of the tables whose states, kinds, keys or owners have to
// be uneven; the other tables are filled by the catalog. N is a number from 1, AT
// an instant, ROWS where both come from.
var uneven = map[string]string{
	"jobs": `insert into jobs (id, owner_id, kind, state, key, payload, priority, run_at, attempt, max_attempts, lease_token, claimed_by, lease_expires_at, created_at, updated_at, finished_at)
		select 'job_' || N, case when i % 3 = 0 then ADA else BOB end,
			'kind' || (i % 7), case when i % 10 = 0 then 'pending' when i % 10 = 1 then 'claimed' else 'succeeded' end,
			'key' || N, '{}', 1 + i % 4, AT, 1, 5,
			case when i % 10 = 1 then 'token' end, case when i % 10 = 1 then 'w' end, case when i % 10 = 1 then AT end,
			AT, AT, case when i % 10 > 1 then AT end
		from ROWS`,
	"runs": `insert into runs (id, owner_id, kind, job_id, status, attempt, worker, token_hash, scheduler_managed, origin, event_seq, created_at, started_at, completed_at)
		select 'run_' || N, j.owner_id, 'job', j.id, case when j.state = 'claimed' then 'running' else 'succeeded' end, 1, 'w', 'hash' || N,
			false, 'live', 0, AT, AT, case when j.state <> 'claimed' then AT end
		from ROWS join jobs j on j.id = 'job_' || N where j.state <> 'pending'`,
	"proposals": `insert into proposals (id, owner_id, repo_id, stream, head, title, author, state, run_id, version, created_at, updated_at, closed_at)
		select 'prop_' || N, r.owner_id, r.id, 'stream' || (i % 3), 'head' || N, 't', 'author' || (i % 5),
			case when i % 10 = 0 then 'open' when i % 10 = 1 then 'closed' else 'merged' end, 'run_' || N, 2, AT, AT, case when i % 10 > 0 then AT end
		from ROWS join repos r on r.id = 'repos' || (i % 4 + 1)`,
	"proposal_transitions": `insert into proposal_transitions (owner_id, proposal_id, version, to_state, actor, entered_at)
		select p.owner_id, p.id, 1, 'open', 'ada', AT from ROWS join proposals p on p.id = 'prop_' || N`,
	"idempotency_keys": `insert into idempotency_keys (owner_id, principal, route, key, fingerprint, status, body, created_at)
		select ADA, 'tok', 'POST /v1/jobs', 'key' || N, 'f', 201, '{}', case when i % 10 > 0 then AT end from ROWS`,
	"connectors": `insert into connectors (owner_id, id, display_name, manifest, version, created_at, updated_at)
		select case when i % 2 = 0 then ADA else BOB end, 'connector' || N, 'n', '{}', 1, AT, AT from ROWS where i <= 600`,
	"connector_streams": `insert into connector_streams (owner_id, connector_id, name, semantics, primary_key, label, created_at)
		select c.owner_id, c.id, 'stream' || N, 'mutable_state', '[]', 'l', AT from ROWS cross join connectors c where i <= 3`,
	"connections": `insert into connections (id, owner_id, connector_id, source_kind, binding_key, display_name, status, run_generation, version, created_at, updated_at)
		select 'connections' || N, case when i % 2 = 0 then ADA else BOB end, 'connector' || (i % 7), 'account', 'b' || N, 'n', 'active', 1, 1, AT, AT from ROWS where i <= 1200`,
	"connection_heads": `insert into connection_heads (connection_id, owner_id, rejected_count, revision, updated_at)
		select c.id, c.owner_id, 0, 1, AT from ROWS join connections c on c.id = 'connections' || N`,
	"owner_seq": `insert into owner_seq (owner_id, seq, floor, epoch, rejected_count, rejected_bytes)
		select case when i = 1 then ADA else BOB end, 6000, 0, 1, 0, 0 from ROWS where i <= 2`,
	"partitions": `insert into partitions (connection_id, stream, owner_id, version, floor_version, live_count, undated_count, bad_time_count, last_seq, created_at, updated_at)
		select c.id, 'stream1', c.owner_id, 6000, 0, 1, 0, 0, 1, AT, AT from ROWS join connections c on c.id = 'connections' || N`,
	"records": `insert into records (id, owner_id, connection_id, stream, key, data, hash, search, sort_at, dated_by, bad_time, first_seq, seq, version, seen_generation, created_at, updated_at, deleted_at)
		select 'rec_' || N, case when i % 2 = 0 then ADA else BOB end, 'connections' || (i % 4), 'stream1', 'key' || N, '{}', 'h', '', AT, 'data', false, i, i, i, 0, AT, AT, case when i % 10 = 0 then AT end from ROWS`,
	"record_versions": `insert into record_versions (connection_id, stream, version, record_id, owner_id, key, data, search, sort_at, dated_by, deleted, seq, superseded_seq, created_at, superseded_at)
		select 'connections' || (i % 4), 'stream1', i, 'rec_' || N, case when i % 2 = 0 then ADA else BOB end, 'key' || N, '{}', '', AT, 'data', false, i, i + 1, AT, AT from ROWS`,
	"day_counts": `insert into day_counts (owner_id, day, connection_id, stream, n)
		select case when i % 2 = 0 then ADA else BOB end, i, 'connections' || (i % 4), 'stream1', 1 from ROWS`,
	"record_rejections": `insert into record_rejections (id, owner_id, connection_id, line_index, code, detail, line_bytes, hash, created_at)
		select 'rej_' || N, case when i % 2 = 0 then ADA else BOB end, 'connections' || (i % 4), i, 'invalid_json', 'd', 1, 'h' || N, AT from ROWS where i <= 1200`,
	"ingest_batches": `insert into ingest_batches (connection_id, batch_id, owner_id, device, body_hash, state, durable_lines, accepted_count, unchanged_count, checkpoint_count, rejected_count, rejections, created_at, updated_at)
		select 'connections' || (i % 4), 'batch' || N, case when i % 2 = 0 then ADA else BOB end, '', 'h', 'processing', 0, 0, 0, 0, 0, '[]', AT, AT from ROWS where i <= 1200`,
}

// fill gives PostgreSQL's planner tables that are worth an index: with empty ones
// every plan costs the same. SQLite's does not look at them.
func fill(t *testing.T, s *store.Store) {
	t.Helper()
	p := newPlanter(t, s, "ada")
	spell := strings.NewReplacer(
		"ROWS", "generate_series(1, 6000) i", "AT", "timestamptz 'epoch' + i * interval '1 second'", "|| N", "|| i::text",
		"ADA", "'"+p.owner+"'", "BOB", "'"+dbtest.Owner(t, s, "bob").ID+"'")
	for _, table := range p.tables.parentsFirst() {
		rows := uneven[table]
		if rows == "" {
			rows = p.even(table)
		}
		if _, err := p.db.ExecContext(t.Context(), spell.Replace(rows)); err != nil {
			t.Fatalf("fill %s: %v; if a CHECK lists the values of a column, give one in given (server/plans/rows_test.go), or the rows in uneven (server/plans/fixture_test.go)", table, err)
		}
	}
}

// even is the statement that fills a table with its shortest rows.
func (p *planter) even(table string) string {
	row := p.valid(table, table)
	columns := slices.Sorted(maps.Keys(row))
	var values []string
	for _, name := range columns {
		c, _ := p.tables.column(table, name)
		values = append(values, p.spell(table, c, row[name]))
	}
	return fmt.Sprintf("insert into %s (%s) select %s from ROWS where i <= 600", table, strings.Join(columns, ", "), strings.Join(values, ", "))
}

// spell writes the value of a column so that it differs from row to row, as the
// name of the row, a number or an instant does.
func (p *planter) spell(table string, c column, value any) string {
	constant := given[table][c.name] != nil && given[table][c.name] != any(nameOfRow{})
	switch value.(type) {
	case coltype.Time:
		return "AT"
	case int64:
		return "i"
	}
	switch {
	case c.references != "" && value == parentID:
		return "(select min(id) from " + c.references + ")"
	case value == table && !constant:
		return "'" + table + "' || N"
	}
	return fmt.Sprintf("'%v'", value)
}
