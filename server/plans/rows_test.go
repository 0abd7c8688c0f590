package plans

import (
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

// valid is the shortest row of a table that every constraint takes.
func valid(table, owner, name string) record {
	switch table {
	case "owners":
		return record{"id": name, "name": name, "created_at": at}
	case "tokens":
		return record{"id": name, "owner_id": owner, "name": name, "hash": name, "scopes": "[]", "created_at": at}
	case "meta":
		return record{"key": name, "value": name}
	case "idempotency_keys":
		return record{"owner_id": owner, "principal": name, "route": name, "key": name, "fingerprint": name, "status": 200, "body": ""}
	case "repos":
		return record{"id": name, "owner_id": owner, "forge": "github", "host": "github.com", "namespace": "acme", "name": name, "created_at": at, "updated_at": at}
	case "job_kinds":
		return record{"owner_id": owner, "name": name, "lease_seconds": 60, "max_attempts": 5, "backoff_base_seconds": 5, "backoff_cap_seconds": 9, "version": 1, "created_at": at, "updated_at": at}
	case "jobs":
		return record{"id": name, "owner_id": owner, "kind": "build", "state": "pending", "key": name, "payload": "{}", "priority": 3, "run_at": at, "attempt": 0, "max_attempts": 5, "created_at": at, "updated_at": at}
	case "runs":
		return record{"id": name, "owner_id": owner, "kind": "job", "job_id": name, "status": "running", "token_hash": name, "scheduler_managed": false, "origin": "live", "event_seq": 0, "created_at": at, "started_at": at}
	case "proposals":
		return record{"id": name, "owner_id": owner, "repo_id": parentID, "stream": "main", "head": name, "title": "t", "author": "ada", "state": "open", "version": 1, "created_at": at, "updated_at": at}
	case "proposal_transitions":
		return record{"owner_id": owner, "proposal_id": parentID, "version": int64(crc32.ChecksumIEEE([]byte(name))), "to_state": "open", "actor": "ada", "entered_at": at}
	case "leases":
		return record{"name": name, "holder": "h", "term": 1, "taken_at": at, "expires_at": at}
	case "workers":
		return record{"owner_id": owner, "name": name, "first_seen_at": at, "last_seen_at": at}
	case "login_links":
		return record{"hash": name, "owner_id": owner, "name": name, "scopes": "[]", "session_seconds": 60, "created_at": at, "expires_at": at}
	}
	panic("no row of " + table)
}

// parentID is the id of the rows that others refer to.
const parentID = "parent"

// insertParents writes the rows that valid rows of a table refer to, once.
func insertParents(t *testing.T, s *store.Store, table, owner string) {
	t.Helper()
	parents := map[string][]string{"proposals": {"repos"}, "proposal_transitions": {"repos", "proposals"}}
	for _, parent := range parents[table] {
		if dbtest.Get[int](t, s, "select count(*) from "+parent+" where id = '"+parentID+"'") == 0 {
			insert(t, s, parent, valid(parent, owner, parentID))
		}
	}
}

// fullRow fills the nullable columns of a table, as far as one row can have
// them all.
func fullRow(table, name string, full bool) record {
	if !full {
		return nil
	}
	switch table {
	case "tokens":
		return record{"expires_at": at, "last_used_at": at, "revoked_at": at}
	case "idempotency_keys":
		return record{"created_at": at, "if_match": `"v1"`, "etag": `"v2"`}
	case "repos":
		return record{"default_stream": "main", "labels_synced_at": at}
	case "job_kinds":
		return record{"paused_at": at, "paused_by": "ada"}
	case "jobs":
		return record{
			"state": "claimed", "repo_id": name, "issue_number": 7, "lease_token": "t", "claimed_by": "w", "lease_expires_at": at,
			"again": "{}", "follows": "a", "followed_by": "b", "cancel_requested_at": at, "progress": "1", "result": "1", "error": "1",
			"concurrency_key": "c", "traceparent": "00", "actor": "ada", "acted_at": at,
		}
	case "proposals":
		return record{"state": "closed", "closed_at": at, "base": "b", "body": "x", "url": "https://example.org", "run_id": name}
	case "proposal_transitions":
		return record{"from_state": "open"}
	case "login_links":
		return record{"used_at": at}
	case "runs":
		return record{
			"status": "failed", "connection_id": "c", "external_run_id": name, "attempt": 1, "worker": "w", "generation": 1,
			"terminal_reason": "r", "error": "1", "facts": "{}", "progress": "1", "completed_at": at,
		}
	}
	return nil
}

// tryInsert writes one row as an engine wants it.
func tryInsert(t *testing.T, s *store.Store, table string, r record) error {
	t.Helper()
	columns := slices.Sorted(maps.Keys(r))
	var args []any
	var marks []string
	for _, c := range columns {
		value := r[c]
		switch v := value.(type) {
		case coltype.Time:
			if value = v.Time; s.Engine() == store.SQLite {
				value = v.UnixMicro()
			}
		case bool:
			if s.Engine() == store.SQLite {
				value = map[bool]int{true: 1}[v]
			}
		}
		if literal, ok := value.(sqlText); ok {
			marks = append(marks, string(literal))
			continue
		}
		args = append(args, value)
		marks = append(marks, fmt.Sprintf("$%d", len(args)))
	}
	_, err := dbtest.DB(t, s).ExecContext(t.Context(),
		"insert into "+table+" ("+strings.Join(columns, ", ")+") values ("+strings.Join(marks, ", ")+")", args...)
	return err
}

// sqlText is a value written into the statement as it stands.
type sqlText string

func insert(t *testing.T, s *store.Store, table string, r record) {
	t.Helper()
	if err := tryInsert(t, s, table, r); err != nil {
		t.Fatalf("insert into %s: %v", table, err)
	}
}
