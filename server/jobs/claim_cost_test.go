package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"modernc.org/sqlite"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/gen/postgres"
	lite "github.com/stint-run/stint/gen/sqlite"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/store"
)

// claimCost is what one claim reads: pages of the probes (PostgreSQL only) and
// of the whole statement, and how many probes and rows that was for.
type claimCost struct{ probing, all, probes, rows int }

// overheard is a querier that keeps the arguments of JobClaim.
type overheard struct {
	model.Querier
	arg *model.JobClaimParams
}

func (o overheard) JobClaim(ctx context.Context, arg model.JobClaimParams) ([]model.Job, error) {
	*o.arg = arg
	return o.Querier.JobClaim(ctx, arg)
}

var errUndo = errors.New("undo")

// claimOf is the statement's arguments as a real claim makes them, and how many
// rows it claims; it is rolled back.
func claimOf(d *fixture, in jobs.ClaimIn) (arg model.JobClaimParams, rows int) {
	d.Helper()
	in = d.whole(in)
	err := d.Store.Tx(d.Context(), func(q model.Querier) error {
		got, err := jobs.Claim(d.Context(), overheard{q, &arg}, d.Now, in)
		if rows = len(got.Jobs); err != nil {
			return err
		}
		return errUndo
	})
	if !errors.Is(err, errUndo) {
		d.Fatal(err)
	}
	return arg, rows
}

// cost measures one claim, which is rolled back.
func (d *fixture) cost(in jobs.ClaimIn) claimCost {
	d.Helper()
	arg, rows := claimOf(d, in)
	c := claimCost{probes: strings.Count(arg.Probes, "priority"), rows: rows}
	if d.Store.Engine() == store.Postgres {
		c.probing, c.all = pgClaimCost(d, arg)
	} else {
		c.all = liteClaimCost(d, arg)
	}
	return c
}

// pgClaimCost is the buffers of a generic plan: those of the probes, with the
// rows they lock, and all.
func pgClaimCost(d *fixture, arg model.JobClaimParams) (probing, all int) {
	d.Helper()
	conn, _ := pgConn(d.T, d.Store)
	tx, err := conn.Begin(d.Context())
	if err != nil {
		d.Fatal(err)
	}
	defer func() { _ = tx.Rollback(d.Context()) }()
	for _, sql := range []string{"set local plan_cache_mode = force_generic_plan", "prepare claim as " + bare(postgres.JobClaim)} {
		if _, err := tx.Exec(d.Context(), sql); err != nil {
			d.Fatal(err)
		}
	}
	defer func() { _, _ = conn.Exec(context.WithoutCancel(d.Context()), "deallocate claim") }()
	execute := fmt.Sprintf("explain (analyze, buffers, timing off, format json) execute claim(%s, %s, %s, %s, %s, %d)",
		literal(arg.Nonce), literal(arg.Worker), literal(arg.Now.String()), literal(arg.Probes), literal(arg.OwnerID), arg.Max)
	return explainedBuffers(d, tx, execute)
}

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func bare(sql string) string { return regexp.MustCompile(`(?m)^\s*--.*$`).ReplaceAllString(sql, "") }

// pgNode is what a plan tells of the pages it read.
type pgNode struct {
	Type  string `json:"Node Type"`
	Hit   int    `json:"Shared Hit Blocks"`
	Read  int    `json:"Shared Read Blocks"`
	Plans []pgNode
}

func explainedBuffers(d *fixture, tx pgx.Tx, execute string) (probing, all int) {
	d.Helper()
	var text []byte
	if err := tx.QueryRow(d.Context(), execute, pgx.QueryExecModeSimpleProtocol).Scan(&text); err != nil {
		d.Fatal(err)
	}
	var plans []struct{ Plan pgNode }
	if err := json.Unmarshal(text, &plans); err != nil {
		d.Fatal(err)
	}
	top := plans[0].Plan
	for _, child := range top.Plans {
		if child.Type == "Limit" {
			probing = child.Hit + child.Read
		}
	}
	return probing, top.Hit + top.Read
}

// liteClaimCost is the pages the claim looked up, in the cache or not.
func liteClaimCost(d *fixture, arg model.JobClaimParams) (all int) {
	d.Helper()
	conn, err := dbtest.DB(d.T, d.Store).Conn(d.Context())
	if err != nil {
		d.Fatal(err)
	}
	defer conn.Close()
	for range 2 { // the first reads the schema, too
		tx, err := conn.BeginTx(d.Context(), nil)
		if err != nil {
			d.Fatal(err)
		}
		all = -pagesSeen(d, conn)
		if _, err := lite.New(tx).JobClaim(d.Context(), arg); err != nil {
			d.Fatal(err)
		}
		all += pagesSeen(d, conn)
		if err := tx.Rollback(); err != nil {
			d.Fatal(err)
		}
	}
	return all
}

func pagesSeen(d *fixture, conn interface{ Raw(func(any) error) error }) (pages int) {
	d.Helper()
	err := conn.Raw(func(driver any) error {
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
		d.Fatal(err)
	}
	return pages
}

// backlog is one state of the queue, and claims that must cost the same in it.
type backlog struct {
	rows   []rowsOf
	claims map[string]jobs.ClaimIn
}

type rowsOf struct {
	n int
	row
}

// backlogs are the situations that performance.md names, with n for many.
func backlogs(d *fixture, n int) []backlog {
	one := func(kinds ...string) jobs.ClaimIn { return jobs.ClaimIn{Kinds: kinds, Limit: 1} }
	few := rowsOf{1000, row{"build", jobs.Pending, 3, d.Now}}
	later := d.Now.Add(24 * time.Hour)
	return []backlog{
		{[]rowsOf{few}, map[string]jobs.ClaimIn{"1,000 pending": one("build")}},
		{[]rowsOf{{n, few.row}, {1, row{"rare", jobs.Pending, 3, d.Now}}}, map[string]jobs.ClaimIn{
			"many pending": one("build"), "a rare kind behind many": one("rare"),
			"twenty of many": {Kinds: []string{"build"}, Limit: 20},
		}},
		{[]rowsOf{few, {n, row{"build", jobs.Succeeded, 3, d.Now}}}, map[string]jobs.ClaimIn{"many finished beside them": one("build")}},
		{[]rowsOf{few, {n, row{"build", jobs.Pending, 1, later}}}, map[string]jobs.ClaimIn{"many of a higher priority not yet due": one("build")}},
		{[]rowsOf{few, {n, row{"paused", jobs.Pending, 1, d.Now}}}, map[string]jobs.ClaimIn{"a paused kind": one("paused", "build")}},
	}
}

// measure plants each backlog for an owner of its own, and returns the costs.
func measure(d *fixture, n int) map[string]claimCost {
	d.Helper()
	out := map[string]claimCost{}
	for i, b := range backlogs(d, n) {
		own := *d
		own.Owner = dbtest.Owner(d.T, d.Store, fmt.Sprint("owner", i)).ID
		for k, r := range b.rows {
			plantFor(&own, r.n, fmt.Sprint(i, "-", k), r.row)
			if r.kind == "paused" {
				own.pause("paused")
			}
		}
		if i == 0 && d.Store.Engine() == store.Postgres {
			dbtest.SQL(d.T, d.Store, "analyze jobs")
		}
		own.Now = d.Now.Add(time.Hour)
		for name, in := range b.claims {
			out[name] = own.cost(in)
		}
	}
	return out
}

const jobsIndexes = 8 // a claimed row is written into or taken out of each

// flat checks the costs against the budgets: at most 5 buffers a probe and 3 a
// row locked (its page, its lock, its next entry), and the whole claim, for each
// level that the trees may have grown, at most one more per probe and per index
// than with 1,000 pending.
func flat(d *fixture, costs map[string]claimCost, levels int) {
	d.Helper()
	base := costs["1,000 pending"]
	for name, c := range costs {
		d.Logf("%-40s %4d buffers, %3d of them in %d probes, %d rows", name, c.all, c.probing, c.probes, c.rows)
		if c.probes != 4 {
			d.Errorf("%s: %d probes, want one per priority of the one kind that is not paused", name, c.probes)
		}
		if c.probing > 5*c.probes+3*c.rows {
			d.Errorf("%s: %d buffers in %d probes for %d rows", name, c.probing, c.probes, c.rows)
		}
		perRow := base.all + levels*(c.probes+jobsIndexes)
		if c.rows <= 1 && c.all > perRow || c.rows > 1 && c.all > c.rows*perRow {
			d.Errorf("%s: %d buffers, with 1,000 pending %d", name, c.all, base.all)
		}
	}
}

// eachFresh is for costs, which depend on what others left in a database: dead
// rows, and statistics, which a delete leaves as they are.
func eachFresh(t *testing.T, fn func(d *fixture)) {
	t.Helper()
	t.Parallel()
	dbtest.EachFresh(t, func(t *testing.T, s *store.Store) { fn(newFixture(t, s)) })
}

// The small form of the claim's budget: counted, so it holds on any machine.
func TestClaimCostsTheSameWhateverLiesBesideIt(t *testing.T) {
	eachFresh(t, func(d *fixture) {
		n := 6_000
		if d.Store.Engine() == store.SQLite {
			n = 4_000
		}
		flat(d, measure(d, n), 1)
	})
}

// The table fills up faster than anybody can gather statistics on it. Nor do
// they lead astray where all rows look alike: SQLite then read the table.
func TestClaimOfATableWithoutStatisticsSeeksToo(t *testing.T) {
	eachFresh(t, func(d *fixture) {
		n := 6_000
		if d.Store.Engine() == store.SQLite {
			n = 4_000
		}
		plant(d, n, "build", jobs.Pending, d.Now)
		d.Pass(time.Hour)
		for _, sql := range []string{"select 1", "analyze"} { // and with them
			dbtest.SQL(d.T, d.Store, sql)
			if c := d.cost(jobs.ClaimIn{Kinds: []string{"build"}, Limit: 1}); c.all > 80 {
				d.Errorf("after %s: %+v. A new index of jobs? Its predicate must not be one that JobClaim repeats: docs/develop.md, Add a migration", sql, c)
			}
		}
	})
}
