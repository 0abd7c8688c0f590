//go:build soak

package plans

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"modernc.org/sqlite"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/store"
)

const million = 1_000_000

// shelf is a repository of a million proposals, and a connection to it.
type shelf struct {
	*testing.T
	engine string
	conn   *sql.Conn
	sql    map[string]string // statements by name
}

// proposalRows are n proposals behind the i-th: ten share an instant, one in
// fifty is open; an author has 60 % of them, another 20 rows.
const proposalRows = `insert into TABLE (id, owner_id, repo_id, stream, head, title, body, author, state, version, created_at, updated_at, closed_at)
	select 'prop_' || PAD, 'own', 'repo',
		case when i % 100 = 7 then 'hotfix' when i % 10 < 7 then 'main' else 'release' end, 'head' || i, 'a title of usual length, ' || i, BODY,
		case when i % 50000 = 11 then 'rare' when i % 5 < 3 then 'bot' else 'dev' || (i % 200) end,
		case when i % 50 = 0 then 'open' when i % 50 < 6 then 'closed' else 'merged' end, 2, AT, AT, case when i % 50 > 0 then AT end
	from NUMBERS`

func (s *shelf) insertRows(table string, from, n int) string {
	numbers, at, pad, body := fmt.Sprintf("generate_series(%d, %d) i", from+1, from+n), "timestamptz 'epoch' + (i / 10) * interval '1 second'", "lpad(i::text, 8, '0')", "repeat('body ', 40)"
	if s.engine == store.SQLite {
		numbers = fmt.Sprintf("(with recursive n(i) as (select %d union all select i + 1 from n where i < %d) select i from n)", from+1, from+n)
		at, pad, body = "(i / 10) * 1000000", "printf('%08d', i)", "printf('%.200c', 'b')"
	}
	return strings.NewReplacer("TABLE", table, "AT", at, "PAD", pad, "BODY", body, "NUMBERS", numbers).Replace(proposalRows)
}

func (s *shelf) exec(query string) (took time.Duration) {
	s.Helper()
	begin := time.Now()
	if _, err := s.conn.ExecContext(s.Context(), query); err != nil {
		s.Fatalf("%s: %v", query, err)
	}
	return time.Since(begin)
}

// newShelf fills the table and then applies the migration of its pages.
func newShelf(t *testing.T, engine string) *shelf {
	st := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, engine)})
	conn, err := dbtest.DB(t, st).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	s := &shelf{T: t, engine: engine, conn: conn, sql: map[string]string{}}
	for _, one := range statements(t, engine) {
		s.sql[one.name] = one.bare()
	}
	made := pageIndexes(t, engine)
	for _, m := range made {
		s.exec("drop index " + m[1])
	}
	s.exec(map[string]string{store.SQLite: "insert into owners values ('own', 'own', 0)", store.Postgres: "insert into owners values ('own', 'own', now())"}[engine])
	s.exec(map[string]string{store.SQLite: "insert into repos values ('repo', 'own', 'github', 'github.com', 'a', 'b', null, null, 0, 0)", store.Postgres: "insert into repos values ('repo', 'own', 'github', 'github.com', 'a', 'b', null, null, now(), now())"}[engine])
	t.Logf("%s: filled in %v", engine, s.exec(s.insertRows("proposals", 0, million)).Round(time.Millisecond))
	if engine == store.Postgres {
		s.exec("vacuum analyze proposals")
	}
	s.exec("begin")
	begin := time.Now()
	for _, m := range made {
		t.Logf("%s: %s built in %v", engine, m[1], s.exec(m[0]).Round(time.Millisecond))
	}
	s.exec("commit")
	t.Logf("%s: the migration blocks writes for %v", engine, time.Since(begin).Round(time.Millisecond))
	s.exec("analyze")
	return s
}

// filter is one combination, as the list's statements take it.
type filter struct {
	statement string
	where     []string // columns and values by turns
}

var filters = []filter{
	{"ProposalPage", nil},
	{"ProposalPageByState", []string{"state", "merged"}},
	{"ProposalPageByState", []string{"state", "open"}},
	{"ProposalPageByStream", []string{"stream", "main"}},
	{"ProposalPageByStream", []string{"stream", "hotfix"}},
	{"ProposalPageByStateStream", []string{"state", "merged", "stream", "main"}},
	{"ProposalPageByStateStream", []string{"state", "open", "stream", "main"}},
	{"ProposalPageByAuthor", []string{"author", "bot"}},
	{"ProposalPageByAuthor", []string{"author", "rare"}},
	{"ProposalWalkByAuthor", []string{"author", "bot"}},
	{"ProposalWalkByAuthor", []string{"author", "rare"}},
}

// place is the position behind which a part of the filtered rows stands.
func (s *shelf) place(f filter, part float64) (at, id string) {
	s.Helper()
	top := keyset.Top()
	if part == 0 && s.engine == store.SQLite {
		return fmt.Sprint(top.At.UnixMicro()), top.ID
	} else if part == 0 {
		return top.At.Format(time.RFC3339Nano), top.ID
	}
	where := "repo_id = 'repo'"
	for i := 0; i < len(f.where); i += 2 {
		where += fmt.Sprintf(" and %s = '%s'", f.where[i], f.where[i+1])
	}
	var n int
	if err := s.conn.QueryRowContext(s.Context(), "select count(*) from proposals where "+where).Scan(&n); err != nil {
		s.Fatal(err)
	}
	cast := map[string]string{store.SQLite: "cast(created_at as text)", store.Postgres: "created_at::text"}[s.engine]
	query := fmt.Sprintf("select %s, id from proposals where %s order by created_at desc, id desc limit 1 offset %d", cast, where, int(float64(n)*part))
	if err := s.conn.QueryRowContext(s.Context(), query).Scan(&at, &id); err != nil {
		s.Fatal(err)
	}
	return at, id
}

// args are the statement's, in its order: repository, owner, filter, position, limit.
func (f filter) args(at, id string) []any {
	args := []any{"repo", "own"}
	for i := 1; i < len(f.where); i += 2 {
		args = append(args, f.where[i])
	}
	limit := 51
	if strings.Contains(f.statement, "Walk") {
		limit = keyset.Walk
	}
	return append(args, at, id, limit)
}

// reading is what one statement cost, and the indexes that it read.
type reading struct {
	buffers int
	plan    string
}

// pgRead explains and runs a statement under a plan mode; nothing is forbidden
// to the planner.
func (s *shelf) pgRead(f filter, mode string, args []any) (r reading) {
	s.Helper()
	s.exec("set plan_cache_mode = " + mode)
	s.exec("prepare checked as " + s.sql[f.statement])
	defer s.exec("deallocate checked")
	var texts []string
	for _, a := range args {
		texts = append(texts, "'"+fmt.Sprint(a)+"'")
	}
	var text []byte
	query := "explain (analyze, buffers, format json) execute checked(" + strings.Join(texts, ", ") + ")"
	if err := s.conn.QueryRowContext(s.Context(), query, pgx.QueryExecModeSimpleProtocol).Scan(&text); err != nil {
		s.Fatal(err)
	}
	var out []struct {
		Plan struct {
			node
			Hit  int `json:"Shared Hit Blocks"`
			Read int `json:"Shared Read Blocks"`
		}
	}
	if err := json.Unmarshal(text, &out); err != nil {
		s.Fatal(err)
	}
	var names []string
	out[0].Plan.walk(func(n node) {
		if n.Index != "" && n.Index != "repos_pkey" {
			names = append(names, strings.TrimPrefix(n.Index, "proposals_"))
		}
		if strings.Contains(n.Type, "Sort") || strings.Contains(n.Type, "Bitmap") || n.Type == "Seq Scan" && n.Table == "proposals" {
			names = append(names, n.Type)
		}
		if n.Filter != "" && n.Table != "repos" { // which is one row
			names = append(names, "filter "+n.Filter)
		}
	})
	return reading{out[0].Plan.Hit + out[0].Plan.Read, strings.Join(names, " + ")}
}

// liteRead counts the pages that a statement looks up, in the cache or not.
func (s *shelf) liteRead(f filter, args []any) (r reading) {
	s.Helper()
	before := s.litePages()
	rows, err := s.conn.QueryContext(s.Context(), s.sql[f.statement], args...)
	if err != nil {
		s.Fatal(err)
	}
	for rows.Next() {
	}
	if err := rows.Close(); err != nil || rows.Err() != nil {
		s.Fatal(err, rows.Err())
	}
	r.buffers = s.litePages() - before
	plan, err := s.conn.QueryContext(s.Context(), "explain query plan "+s.sql[f.statement], args...)
	if err != nil {
		s.Fatal(err)
	}
	defer plan.Close()
	var lines []string
	for plan.Next() {
		var id, parent, unused int
		var line string
		if err := plan.Scan(&id, &parent, &unused, &line); err != nil {
			s.Fatal(err)
		}
		if _, index, ok := strings.Cut(line, "INDEX proposals_"); ok {
			lines = append(lines, strings.Fields(index)[0])
		} else if strings.Contains(line, "TEMP B-TREE") {
			lines = append(lines, line)
		}
	}
	r.plan = strings.Join(lines, " + ")
	return r
}

func (s *shelf) litePages() (pages int) {
	s.Helper()
	err := s.conn.Raw(func(driver any) error {
		for _, op := range []sqlite.DBStatusOp{sqlite.DBStatusCacheHit, sqlite.DBStatusCacheMiss} {
			n, _, err := driver.(sqlite.DBStatus).Status(op, false)
			if err != nil {
				return err
			}
			pages += n
		}
		return nil
	})
	if err != nil {
		s.Fatal(err)
	}
	return pages
}

// read is a statement at a depth, once to warm up and once to be counted.
func (s *shelf) read(f filter, mode string, part float64) reading {
	s.Helper()
	at, id := s.place(f, part)
	args := f.args(at, id)
	if s.engine == store.SQLite {
		micros := json.Number(at)
		n, _ := micros.Int64()
		args[len(args)-3] = n
		s.liteRead(f, args)
		return s.liteRead(f, args)
	}
	s.pgRead(f, mode, args)
	return s.pgRead(f, mode, args)
}

// Pages of a million proposals cost at 95 % depth what the first one costs, with
// the plan that is made without knowing the arguments, and with the one that the
// planner chooses by itself when it knows them.
func TestSoakProposalPagesAtAnyDepth(t *testing.T) {
	for _, engine := range []string{store.SQLite, store.Postgres} {
		t.Run(engine, func(t *testing.T) {
			s := newShelf(t, engine)
			modes := map[string][]string{store.SQLite: {"-"}, store.Postgres: {"force_generic_plan", "force_custom_plan"}}[engine]
			for _, f := range filters {
				for _, mode := range modes {
					first, half, deep := s.read(f, mode, 0), s.read(f, mode, 0.5), s.read(f, mode, 0.95)
					t.Logf("%-26s %-26s %-19s %5d %5d %5d  %s", f.statement, strings.Join(f.where, " "), mode, first.buffers, half.buffers, deep.buffers, deep.plan)
					if max(half.buffers, deep.buffers) > first.buffers+8 {
						t.Errorf("%s %v %s: deeper pages cost more", f.statement, f.where, mode)
					}
					if plans := []string{first.plan, half.plan, deep.plan}; mode != "force_custom_plan" && len(slices.Compact(plans)) != 1 {
						t.Errorf("%s %v: plans differ: %q", f.statement, f.where, plans)
					}
				}
			}
			s.writes()
		})
	}
}
