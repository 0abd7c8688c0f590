// Command stint is the server, its command line and its workers in one binary.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// globals are the flags that every sub-command shares.
type globals struct {
	DB     string // sqlite:PATH or postgres://…
	Output string // table, json or jsonl
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := rootCmd().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "stint:", err)
		os.Exit(exitCode(err))
	}
}

func rootCmd() *cobra.Command {
	g := &globals{}
	cmd := &cobra.Command{
		Use:           "stint",
		Short:         "The system of record for unattended work",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.PersistentFlags().StringVar(&g.DB, "db", defaultDB(), "database: sqlite:PATH or postgres://…")
	cmd.PersistentFlags().Lookup("db").DefValue = "STINT_DB, DATABASE_URL or sqlite:stint.db"
	cmd.PersistentFlags().StringVarP(&g.Output, "output", "o", "table", "table, json or jsonl")
	cmd.AddCommand(serveCmd(g), migrateCmd(g), openapiCmd(), versionCmd())
	return cmd
}

func defaultDB() string {
	for _, key := range []string{"STINT_DB", "DATABASE_URL"} {
		if v := os.Getenv(key); v != "" {
			return v
		}
	}
	return "sqlite:stint.db"
}
