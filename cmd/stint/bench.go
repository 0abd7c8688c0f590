package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/cmd/stint/internal/bench"
	"github.com/stint-run/stint/server/store"
)

// benchFlags are the flags of stint bench.
type benchFlags struct {
	bench.Config
	durability string
	maxConns   int
}

func benchCmd(g *globals) *cobra.Command {
	f := &benchFlags{}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure enqueue, claim + finish and drain on a database of its own",
		Long: `Measure enqueue, claim + finish one by one, and drain in batches, over HTTP.

The database is always a new one, removed afterwards: a file in a temporary folder
of the present one, or with --db postgres://… a database stint_bench_… on that
server, whose role must be allowed to create databases. A database that is there
already is never measured. The server runs in this process, on a free port of
127.0.0.1, so its clients take part of the same processors.

Each client sends its next request when the last was answered. A first run warms
up; the figure is the median of the others. Requests carry no Idempotency-Key.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("pg-max-conns") && f.maxConns < 1 {
				return usagef("--pg-max-conns is at least 1")
			}
			return runBench(cmd, g, f)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.Clients, "clients", 16, "clients at a time; batches use at most 4")
	flags.IntVar(&f.Jobs, "jobs", 5000, "jobs in a run, at most")
	flags.DurationVar(&f.Time, "time", 10*time.Second, "time of a run, at most")
	flags.IntVar(&f.Batch, "batch", 100, "jobs a claim takes when it drains, 1 to 100")
	flags.IntVar(&f.Runs, "runs", 3, "runs that count, at least 3")
	flags.StringVar(&f.durability, "sqlite-durability", "full", "full or normal")
	flags.IntVar(&f.maxConns, "pg-max-conns", 0, "size of the PostgreSQL pool (default the server's own default)")
	return cmd
}

func (f *benchFlags) check() error {
	switch {
	case f.Clients < 1 || f.Clients > 1000:
		return errors.New("--clients is 1 to 1000")
	case f.Jobs < 1 || f.Time <= 0:
		return errors.New("--jobs and --time are above 0")
	case f.Batch < 2 || f.Batch > 100:
		return errors.New("--batch is 2 to 100")
	case f.Runs < 3:
		return errors.New("--runs is at least 3: a median of fewer says nothing")
	}
	return nil
}

// benchReport is what was measured, and on what.
type benchReport struct {
	Machine    map[string]any    `json:"machine"`
	Engine     string            `json:"engine"`
	Durability map[string]string `json:"durability"`
	Note       string            `json:"note"`
	Results    []bench.Result    `json:"results"`
}

func runBench(cmd *cobra.Command, g *globals, f *benchFlags) error {
	if err := f.check(); err != nil {
		return usage(err)
	}
	ctx := cmd.Context()
	b, err := newBenchDatabase(ctx, g, f)
	if err != nil {
		return err
	}
	defer b.drop()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	in, err := startInner(ctx, l, store.Config{URL: b.url, Durability: store.Durability(f.durability), MaxConns: f.maxConns}, cmd.ErrOrStderr(), slog.LevelWarn)
	if err != nil {
		return err
	}
	defer in.stop()
	on := &globals{DB: b.url}
	token, err := on.makeOnDatabase(ctx, tokenIn{owner: "bench", name: "bench", scopes: []string{"admin"}})
	if err != nil {
		return err
	}
	if f.API, err = api.New(in.url, token.Token, version(), nil); err != nil {
		return err
	}
	bar := newProgress(g, cmd.ErrOrStderr(), "", 0)
	f.Kind, f.Note = "bench", bar.step
	report := benchReport{Machine: machine(), Engine: b.engine, Durability: b.durability,
		Note: "over HTTP, server and clients in one process, ledger written, no Idempotency-Key; medians of " + fmt.Sprint(f.Runs) + " runs"}
	report.Results, err = bench.Run(ctx, f.Config)
	bar.close()
	if err != nil {
		return err
	}
	return g.printBench(cmd, report)
}

// benchDatabase is the database that is measured.
type benchDatabase struct {
	url, engine string
	durability  map[string]string
	drop        func()
}

// newBenchDatabase makes one; it takes none that is there.
func newBenchDatabase(ctx context.Context, g *globals, f *benchFlags) (benchDatabase, error) {
	engine, err := store.EngineOf(g.DB)
	if err != nil {
		return benchDatabase{}, usage(err)
	}
	if engine == store.SQLite {
		return newBenchFile(g, f)
	}
	url, drop, err := bench.Scratch(ctx, g.DB, "stint_bench_")
	if err != nil {
		return benchDatabase{}, err
	}
	b := benchDatabase{url: url, engine: engine, drop: func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := drop(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "stint:", err)
		}
	}}
	if b.durability, err = bench.Durability(ctx, url); err != nil {
		b.drop()
	}
	return b, err
}

func newBenchFile(g *globals, f *benchFlags) (benchDatabase, error) {
	parent := "."
	if g.settings.given("db") {
		path, err := store.SQLitePath(g.DB)
		if err != nil {
			return benchDatabase{}, usage(err)
		}
		if _, err := os.Stat(path); err == nil {
			return benchDatabase{}, usagef("%s exists; bench measures only a database that it makes itself", path)
		}
		parent = filepath.Dir(path)
	}
	dir, err := os.MkdirTemp(parent, "stint-bench-")
	if err != nil {
		return benchDatabase{}, usage(err)
	}
	return benchDatabase{
		url: "sqlite:" + filepath.Join(dir, "bench.db"), engine: store.SQLite,
		durability: map[string]string{"synchronous": f.durability, "journal_mode": "wal", "driver": "modernc.org/sqlite " + moduleVersion("modernc.org/sqlite")},
		drop:       func() { os.RemoveAll(dir) },
	}, nil
}

func moduleVersion(path string) string {
	info, _ := debug.ReadBuildInfo()
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	return "unknown"
}

// machine is what the figures depend on besides the database.
func machine() map[string]any {
	m := map[string]any{"os": runtime.GOOS, "arch": runtime.GOARCH, "cpus": runtime.NumCPU(), "go": runtime.Version(), "stint": version()}
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return m
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			m["cpu"] = strings.TrimSpace(value)
			break
		}
	}
	return m
}

func (g *globals) printBench(cmd *cobra.Command, r benchReport) error {
	w := cmd.OutOrStdout()
	if g.Output != "table" {
		return printJSON(w, r)
	}
	fmt.Fprintf(w, "machine     %v\nengine      %s\ndurability  %v\n%s\n\n", r.Machine, r.Engine, r.Durability, r.Note)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "WORK\tCLIENTS\tJOBS/S\tRUNS\tP50 MS\tP99 MS")
	for _, one := range r.Results {
		fmt.Fprintf(t, "%s\t%d\t%.0f\t%.0f\t%.2f\t%.2f\n", one.Work, one.Clients, one.Median, one.Runs, one.P50, one.P99)
	}
	return t.Flush()
}
