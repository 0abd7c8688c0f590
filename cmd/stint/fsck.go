package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/server/fsck"
)

func fsckCmd(g *globals) *cobra.Command {
	var repair bool
	cmd := &cobra.Command{
		Use:   "fsck",
		Short: "Compare the maintained counts of sources with their rows; exit 1 if one differs",
		Long: "Compare what is maintained of sources with the rows that it is made from: the counts of partitions and days, the\n" +
			"runs of connections, the sequences of owners, the counts of the quarantine. It works on the database of --db, in\n" +
			"slices, and may run beside servers: it reports no difference that a writer made meanwhile. With --repair it sets\n" +
			"what differs, and waits and is waited for as any writer is. Exit code 0 if nothing differs, or all was repaired.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := g.openMigrated(cmd.Context())
			if err != nil {
				return err
			}
			defer s.Close()
			report, err := fsck.Run(cmd.Context(), s, repair)
			if err != nil {
				return databaseError(err)
			}
			if err := g.printFindings(cmd.OutOrStdout(), report); err != nil {
				return err
			}
			if n := len(report.Findings); n > 0 && !repair {
				return &exitError{exitFailed, fmt.Errorf("%d figures differ from their rows: stint fsck --repair", n)}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "set what differs")
	return cmd
}

func (g *globals) printFindings(w io.Writer, r fsck.Report) error {
	switch {
	case g.Output == "json":
		return printJSON(w, r)
	case g.Output == "jsonl":
		for _, f := range r.Findings {
			if err := printJSON(w, f); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(r.Findings) > 0 {
		fmt.Fprintln(t, "CONNECTION\tSTREAM\tFIGURE\tSTORED\tCOUNTED\tREPAIRED")
	}
	for _, f := range r.Findings {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%t\n", orDash(f.ConnectionID), orDash(f.Stream), f.Figure, f.Stored, f.Counted, f.Repaired)
	}
	if !g.quiet {
		fmt.Fprintf(t, "%d connections, %d partitions and %d owners were looked at: %d figures differ\n", r.Connections, r.Partitions, r.Owners, len(r.Findings))
	}
	return t.Flush()
}

func orDash(text *string) string {
	if text == nil {
		return "-"
	}
	return printable(*text)
}
