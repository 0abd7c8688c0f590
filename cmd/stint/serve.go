package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/records"
	"github.com/stint-run/stint/server/store"
)

// serveFlags are the flags of stint serve.
type serveFlags struct {
	addr, adminAddr string
	migrate         string
	durability      string
	execMode        string
	maxConns        int
	listenURL       string
	keyTTL          time.Duration
	ttls            records.TTLs
	drainDelay      time.Duration
	certFile        string
	keyFile         string
	proxies         []string
	reapEvery       time.Duration
}

func serveCmd(g *globals) *cobra.Command {
	f := &serveFlags{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: "Run the server on SQLite or PostgreSQL until SIGTERM or Ctrl-C, and then drain.\n" +
			"A second signal, from one second after the first, ends it at once.\n" +
			"The database is migrated first. On SQLite the owner's token is written to PATH.token.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			g.useAsyncOutputs(cmd.Root())
			return serve(cmd.Context(), g, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.addr, "addr", "127.0.0.1:8480", "address of the API")
	flags.StringVar(&f.adminAddr, "admin-addr", "127.0.0.1:8481", "address for /livez, /readyz and /metrics; empty: none")
	flags.StringVar(&f.migrate, "migrate", "auto", "pending migrations: auto applies them, verify refuses to start, off waits until they are applied")
	flags.StringVar(&f.durability, "sqlite-durability", "full", "full survives a power failure; normal may lose the last transactions in one")
	flags.StringVar(&f.execMode, "pg-exec-mode", "", "how statements travel to PostgreSQL: cache_statement; cache_describe, exec or simple behind a transaction pooler (default the URL's default_query_exec_mode, else cache_statement)")
	flags.IntVar(&f.maxConns, "pg-max-conns", 0, "size of the PostgreSQL pool (default the URL's pool_max_conns, else 16)")
	flags.StringVar(&f.listenURL, "db-listen", "", "database for the listening connection, which hears of the work of other replicas: itself, where --db leads to a transaction pooler (default --db)")
	flags.DurationVar(&f.drainDelay, "drain-delay", time.Second, "how long a stopping server goes on accepting, unready, so that load balancers and workers hear of it")
	flags.DurationVar(&f.reapEvery, "reap-every", jobs.ReapEvery, "time between two looks for jobs whose lease ran out, 100ms to 10m; another replica takes over after three of them")
	flags.DurationVar(&f.keyTTL, "idempotency-ttl", control.DefaultKeyTTL, "how long an Idempotency-Key holds its answer, from 1m to 720h; the same in all replicas")
	flags.DurationVar(&f.ttls.Superseded, "superseded-ttl", records.DefaultSupersededTTL, "how long a version of a record is kept once a later one took its place, 1h to 8760h")
	flags.DurationVar(&f.ttls.Tombstone, "tombstone-ttl", records.DefaultTombstoneTTL, "how long a deleted record is kept, for those who follow changes, 1h to 8760h")
	flags.DurationVar(&f.ttls.Batch, "batch-ttl", records.DefaultBatchTTL, "how long a batch of records is kept once nothing more comes for it, and may be sent again, 1h to 8760h")
	flags.StringVar(&f.certFile, "tls-cert", "", "PEM file with the certificate chain: serve the API over HTTPS; read again when it changes")
	flags.StringVar(&f.keyFile, "tls-key", "", "PEM file with the certificate's key")
	flags.StringSliceVar(&f.proxies, "trusted-proxy", nil, "addresses or networks of proxies whose X-Forwarded-For and X-Forwarded-Proto count, separated by commas")
	for _, name := range []string{"tls-cert", "tls-key", "trusted-proxy", "addr", "admin-addr", "migrate", "sqlite-durability", "pg-exec-mode", "pg-max-conns", "db-listen", "drain-delay", "reap-every", "idempotency-ttl", "superseded-ttl", "tombstone-ttl", "batch-ttl"} {
		configurable(flags, name)
	}
	emptyCounts(flags, "admin-addr")
	return cmd
}

func serve(ctx context.Context, g *globals, f *serveFlags) error {
	log := serverLog(g)
	slog.SetDefault(log)
	mode, err := schema.ParseMode(f.migrate)
	if err != nil {
		return usage(err)
	}
	if g.settings.given("pg-max-conns") && f.maxConns < 1 {
		return usagef("--pg-max-conns is at least 1")
	}
	if f.drainDelay < 0 {
		return usagef("--drain-delay is not negative")
	}
	if err := f.checkListen(g); err != nil {
		return err
	}
	config := server.Config{Version: version(), Log: log, URL: g.DB, Migrate: mode, DrainDelay: f.drainDelay, ReapEvery: f.reapEvery, IdempotencyTTL: f.keyTTL, TTLs: f.ttls}
	if err := config.Check(); err != nil || f.reapEvery == 0 {
		return usage(fmt.Errorf("--reap-every is 100ms to 10m, not %v", f.reapEvery))
	}
	if err := control.CheckKeyTTL(f.keyTTL); err != nil {
		return usage(fmt.Errorf("--idempotency-ttl (STINT_IDEMPOTENCY_TTL): %w", err))
	}
	if err := f.ttls.Check(); err != nil {
		return usage(err)
	}
	config.Notify = func(state string) { tellSystemd(state, log) }
	if config.TrustedProxies, err = networks(f.proxies); err != nil {
		return err
	}
	secure, err := f.tls(log)
	if err != nil {
		return err
	}
	s, err := store.Open(ctx, store.Config{
		URL: g.DB, Durability: store.Durability(f.durability), ExecMode: store.ExecMode(f.execMode), MaxConns: f.maxConns, ListenURL: f.listenURL, Serve: true,
	})
	if err != nil {
		return databaseError(err)
	}
	defer s.Close()
	if err := server.Prepare(ctx, config, s); err != nil {
		return databaseError(err)
	}
	l, err := listen(f, log)
	if err != nil {
		return err
	}
	scheme := "http://"
	if l.TLS = secure; secure != nil {
		scheme = "https://"
	}
	log.Info("listening", "api", scheme+l.Main.Addr().String(), "database", store.Redact(g.DB), "version", version())
	return server.Run(ctx, config, s, l)
}

// checkListen refuses a --db-listen that is no PostgreSQL, or of no use.
func (f *serveFlags) checkListen(g *globals) error {
	if f.listenURL == "" {
		return nil
	}
	if g.settings.of("db-listen").Source == fromFlag && store.HasPassword(f.listenURL) {
		return usagef("a password in --db-listen is seen by everybody on the machine: put the URL into STINT_DB_LISTEN")
	}
	for _, url := range []string{f.listenURL, g.DB} {
		if engine, err := store.EngineOf(url); err != nil || engine != store.Postgres {
			return usagef("--db-listen (STINT_DB_LISTEN) is postgres://…, and so is --db then: one process alone serves an SQLite file")
		}
	}
	return nil
}

// serverLog is one line per event on standard error; --verbose adds what
// happens all the time, such as health checks.
func serverLog(g *globals) *slog.Logger {
	level := slog.LevelInfo
	if g.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(g.outputs.stderr, &slog.HandlerOptions{Level: level}))
}

// listen opens both listeners, or none.
func listen(f *serveFlags, log *slog.Logger) (l server.Listeners, err error) {
	if l.Main, err = net.Listen("tcp", f.addr); err != nil {
		return l, listenError("the API", err, "--addr (STINT_ADDR)")
	}
	if f.certFile == "" {
		warnPublic(f.addr, log)
	}
	if f.adminAddr == "" {
		return l, nil
	}
	if l.Admin, err = net.Listen("tcp", f.adminAddr); err != nil {
		return l, errors.Join(listenError("the admin routes", err, "--admin-addr (STINT_ADMIN_ADDR; empty: none)"), l.Main.Close())
	}
	return l, nil
}

// listenError says how to choose another address if this one is taken.
func listenError(what string, err error, flag string) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("listen for %s: %w: choose another with %s", what, err, flag)
	}
	return fmt.Errorf("listen for %s: %w", what, err)
}

// warnPublic warns of plain HTTP beyond this machine.
func warnPublic(addr string, log *slog.Logger) {
	host, _, _ := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		log.Warn("serving plain HTTP beyond this machine: tokens can be read on the way", "addr", strings.TrimSpace(addr))
	}
}
