package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/stint-run/stint/schema"
)

func migrateCmd(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the database to the schema of this build",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(migrateUpCmd(g), migrateStatusCmd(g), migratePlanCmd(g), migrateVerifyCmd(g), migrateNewCmd())
	return cmd
}

func migrateUpCmd(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "up",
		Short: "Apply what is pending; safe to run from several places at once",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := schema.Migrate(cmd.Context(), schema.Options{URL: g.DB, Log: lineLog(cmd.ErrOrStderr())})
			if err != nil {
				return databaseError(err)
			}
			return printReport(cmd.OutOrStdout(), g.Output, report)
		},
	}
}

func printReport(w io.Writer, output string, r schema.Report) error {
	if output != "table" {
		return json.NewEncoder(w).Encode(reportJSON(r))
	}
	if len(r.Applied)+len(r.Adopted) == 0 {
		_, err := fmt.Fprintln(w, "nothing to do: the schema is up to date")
		return err
	}
	_, err := fmt.Fprintf(w, "the schema is up to date: %d applied, %d adopted\n", len(r.Applied), len(r.Adopted))
	return err
}

type appliedJSON struct {
	Version string `json:"version"`
	Name    string `json:"name"`
	TookMS  int64  `json:"took_ms"`
}

func reportJSON(r schema.Report) any {
	applied := make([]appliedJSON, len(r.Applied))
	for i, a := range r.Applied {
		applied[i] = appliedJSON{a.Version, a.Name, a.Took.Milliseconds()}
	}
	return map[string]any{"engine": r.Engine, "applied": applied, "adopted": append([]string{}, r.Adopted...)}
}

func migrateStatusCmd(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "List every version: applied, pending, unknown, edited, out_of_order; then each invalid_index",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			versions, err := schema.Status(cmd.Context(), schema.Options{URL: g.DB})
			if err != nil {
				return databaseError(err)
			}
			err = schema.Check(cmd.Context(), schema.Options{URL: g.DB})
			if bad, ok := errors.AsType[*schema.Error](err); ok && bad.Code == schema.CodeBadIndex {
				versions, err = append(versions, invalidIndexes(bad.Names)...), nil
				fmt.Fprintln(cmd.ErrOrStderr(), "stint:", bad.Detail)
			}
			if err != nil {
				return databaseError(err)
			}
			return printVersions(cmd.OutOrStdout(), g.Output, versions)
		},
	}
}

// invalidIndexes are lines of a status without a version: which migration
// builds an index is not recorded.
func invalidIndexes(names []string) (lines []schema.Version) {
	for _, name := range names {
		lines = append(lines, schema.Version{Name: name, State: schema.CodeBadIndex})
	}
	return lines
}

func printVersions(w io.Writer, output string, versions []schema.Version) error {
	switch output {
	case "json":
		return json.NewEncoder(w).Encode(map[string]any{"data": append([]schema.Version{}, versions...)})
	case "jsonl":
		for _, v := range versions {
			if err := json.NewEncoder(w).Encode(v); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "VERSION\tSTATE\tNAME")
	for _, v := range versions {
		fmt.Fprintf(t, "%s\t%s\t%s\n", v.Version, v.State, v.Name)
	}
	return t.Flush()
}

func migratePlanCmd(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "plan",
		Short: "Print the SQL that up would run, and change nothing",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			steps, err := schema.Plan(cmd.Context(), schema.Options{URL: g.DB})
			if err != nil {
				return databaseError(err)
			}
			return printPlan(cmd.OutOrStdout(), g.Output, steps)
		},
	}
}

type stepJSON struct {
	Version     string `json:"version"`
	Name        string `json:"name"`
	SQL         string `json:"sql"`
	Transaction bool   `json:"transaction"`
}

func printPlan(w io.Writer, output string, steps []schema.Step) error {
	if output != "table" {
		data := make([]stepJSON, len(steps))
		for i, s := range steps {
			data[i] = stepJSON(s)
		}
		return json.NewEncoder(w).Encode(map[string]any{"data": data})
	}
	if len(steps) == 0 {
		_, err := fmt.Fprintln(w, "-- nothing to do: the schema is up to date")
		return err
	}
	for _, s := range steps {
		note := "in one transaction"
		if !s.Transaction {
			note = "outside a transaction"
		}
		if _, err := fmt.Fprintf(w, "-- %s, %s\n%s\n\n", s.Name, note, s.SQL); err != nil {
			return err
		}
	}
	return nil
}

func migrateVerifyCmd(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Exit 1 if anything is pending or wrong",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := schema.Verify(cmd.Context(), schema.Options{URL: g.DB}); err != nil {
				return databaseError(err)
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "the schema is up to date")
			return err
		},
	}
}

func migrateNewCmd() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Write the next migration's files for both engines",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := schema.New(dir, args[0])
			for _, p := range paths {
				fmt.Fprintln(cmd.OutOrStdout(), p)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "schema", "the folder that holds postgres/ and sqlite/")
	return cmd
}

// lineLog writes one plain line for each event: what a person reads while a
// long migration runs.
func lineLog(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				a.Value = slog.StringValue(a.Value.Time().UTC().Format(time.TimeOnly))
			}
			return a
		},
	}))
}
