package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
)

func runLogsCmd(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "logs ID",
		Short: "Print what a run printed last",
		Long: "Print the end of what a run printed, its output and its error: 64 KiB at most. Control\n" +
			"characters but tabs and line ends are left out. Standard error tells how much came before,\n" +
			"and the run's warning. With -o json the answer is printed as it came.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.api()
			if err != nil {
				return err
			}
			log, err := api.Answer[client.Log](c.GetRunLog(cmd.Context(), args[0]))
			if err != nil {
				return err
			}
			if g.settings.given("output") && g.Output != "table" {
				return printJSON(cmd.OutOrStdout(), log.Raw)
			}
			run, err := api.Answer[client.Run](c.GetRun(cmd.Context(), args[0]))
			if err != nil {
				return err
			}
			if err := printLog(cmd.OutOrStdout(), log.Value.Text); err != nil || g.quiet {
				return err
			}
			remark(cmd.ErrOrStderr(), log.Value, run.Value.Warning)
			return nil
		},
	}
}

// printLog ends what it prints with a line end.
func printLog(w io.Writer, text string) error {
	if text == "" {
		return nil
	}
	_, err := fmt.Fprintln(w, strings.TrimSuffix(readable(text), "\n"))
	return err
}

// remark tells what the text alone does not show.
func remark(w io.Writer, log client.Log, warning *string) {
	switch {
	case log.CutBytes > 0:
		fmt.Fprintf(w, "stint: %d of %d bytes were cut from the beginning\n", log.CutBytes, log.Bytes)
	case log.Bytes == 0:
		fmt.Fprintln(w, "stint: nothing was kept of what the run printed")
	}
	if warning != nil {
		fmt.Fprintf(w, "stint: the run's warning: %s\n", readable(*warning))
	}
}
