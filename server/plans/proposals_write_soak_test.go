//go:build soak

package plans

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/stint-run/stint/server/store"
)

const (
	rounds   = 7
	perRound = 500 // single-row transactions
)

// writes compares the table with one that lacks the five indexes: what an insert
// and a transition cost, in turn, one row a transaction.
func (s *shelf) writes() {
	s.Helper()
	s.bare()
	type cost struct{ buffers, wal, took []float64 }
	costs := map[string]*cost{}
	for round := range rounds {
		for _, table := range []string{"proposals", "bare"} {
			from := million + round*perRound
			for what, make := range map[string]func(i int) string{
				"1 insert": func(i int) string { return s.insertRows(table, from+i, 1) },
				"2 transition": func(i int) string {
					return strings.NewReplacer("TABLE", table, "ID", fmt.Sprintf("prop_%08d", 50*(round*perRound+i+1)), "NOW", map[string]string{store.SQLite: "1", store.Postgres: "now()"}[s.engine]).
						Replace(`update TABLE set state = 'merged', version = version + 1, updated_at = NOW, closed_at = NOW where id = 'ID' and owner_id = 'own' and state = 'open' and version = 2`)
				},
			} {
				name := what + " " + table
				if costs[name] == nil {
					costs[name] = &cost{}
				}
				buffers, wal, took := s.cost(make)
				c := costs[name]
				c.buffers, c.wal, c.took = append(c.buffers, buffers), append(c.wal, wal), append(c.took, took)
			}
		}
	}
	median := func(v []float64) float64 { slices.Sort(v); return v[len(v)/2] }
	for _, what := range []string{"1 insert", "2 transition"} {
		with, without := costs[what+" proposals"], costs[what+" bare"]
		s.Logf("%s %s: buffers %.1f against %.1f, WAL bytes %.0f against %.0f, %.3f ms against %.3f ms (× %.2f)", s.engine, what[2:],
			median(with.buffers), median(without.buffers), median(with.wal), median(without.wal),
			median(with.took), median(without.took), median(with.took)/median(without.took))
	}
}

// bare is the table as it is without the migration of the pages.
func (s *shelf) bare() {
	s.Helper()
	if s.engine == store.Postgres {
		s.exec("create table bare (like proposals including constraints)")
		s.exec("alter table bare add primary key (id), add foreign key (owner_id) references owners (id), add foreign key (repo_id) references repos (id)")
		s.exec("insert into bare select * from proposals")
		s.exec("create unique index bare_open_head on bare (repo_id, stream, head) where closed_at is null")
		s.exec("vacuum analyze bare")
		s.exec("vacuum analyze proposals")
		s.exec("checkpoint")
		return
	}
	var ddl string
	if err := s.conn.QueryRowContext(s.Context(), "select sql from sqlite_schema where type = 'table' and name = 'proposals'").Scan(&ddl); err != nil {
		s.Fatal(err)
	}
	s.exec(strings.Replace(ddl, "proposals", "bare", 1))
	s.exec("create unique index bare_open_head on bare (repo_id, stream, head) where closed_at is null")
	s.exec("insert into bare select * from proposals")
}

// cost is a round of single-row transactions: buffers and bytes of WAL per row,
// milliseconds per row, each its own commit.
func (s *shelf) cost(one func(i int) string) (buffers, wal, ms float64) {
	s.Helper()
	if s.engine == store.SQLite {
		return s.liteCost(one)
	}
	before := s.lsn()
	begin := time.Now()
	for i := range perRound - 50 {
		s.exec(one(i))
	}
	ms = time.Since(begin).Seconds() * 1000 / (perRound - 50)
	wal = (s.lsn() - before) / (perRound - 50)
	for i := perRound - 50; i < perRound; i++ {
		buffers += s.explained(one(i)) / 50
	}
	return buffers, wal, ms
}

func (s *shelf) lsn() (n float64) {
	s.Helper()
	if err := s.conn.QueryRowContext(s.Context(), "select pg_current_wal_insert_lsn() - '0/0'::pg_lsn").Scan(&n); err != nil {
		s.Fatal(err)
	}
	return n
}

func (s *shelf) explained(query string) float64 {
	s.Helper()
	var text []byte
	if err := s.conn.QueryRowContext(s.Context(), "explain (analyze, buffers, format json) "+query, pgx.QueryExecModeSimpleProtocol).Scan(&text); err != nil {
		s.Fatal(err)
	}
	var out []struct {
		Plan struct {
			Hit  float64 `json:"Shared Hit Blocks"`
			Read float64 `json:"Shared Read Blocks"`
		}
	}
	if err := json.Unmarshal(text, &out); err != nil {
		s.Fatal(err)
	}
	return out[0].Plan.Hit + out[0].Plan.Read
}

// liteCost counts pages looked up, and the growth of the WAL file.
func (s *shelf) liteCost(one func(i int) string) (buffers, wal, ms float64) {
	s.Helper()
	var file string
	if err := s.conn.QueryRowContext(s.Context(), "select file from pragma_database_list where name = 'main'").Scan(&file); err != nil {
		s.Fatal(err)
	}
	s.exec("pragma wal_autocheckpoint = 0")
	s.exec("pragma wal_checkpoint(truncate)")
	pages, begin := s.litePages(), time.Now()
	for i := range perRound {
		s.exec(one(i))
	}
	ms = time.Since(begin).Seconds() * 1000 / perRound
	buffers = float64(s.litePages()-pages) / perRound
	info, err := os.Stat(file + "-wal")
	if err != nil {
		s.Fatal(err)
	}
	return buffers, float64(info.Size()) / perRound, ms
}
