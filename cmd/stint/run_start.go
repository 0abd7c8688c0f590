package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
)

func runStartCmd(g *globals) *cobra.Command {
	var body client.StartRunRequest
	var kind string
	var refresh []string
	cmd := &cobra.Command{
		Use:   "start CONNECTION",
		Short: "Start a run of a connection, and print its id and generation",
		Long: "Start a run of a connection: its id, or the id of a connector that has one connection.\n" +
			"A run that is active there stays as it is, and the exit code is 4.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.api()
			if err != nil {
				return err
			}
			body.ConnectionID, body.Kind, body.FullRefresh = args[0], client.StartRunRequestKind(kind), listed(refresh)
			done, err := api.Answer[client.Started](c.StartRun(cmd.Context(), nil, body))
			if err != nil {
				return err
			}
			words := "started"
			if done.Value.Deduplicated {
				words = "known: it is " + string(done.Value.Run.Status)
			}
			return g.printAction(cmd, done.Raw, done.Value.Run.ID, fmt.Sprintf("%s %s, generation %d", done.Value.Run.ID, words, done.Value.Generation))
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&kind, "kind", "manual", "scheduled, manual, browser or webhook")
	givenText(flags, &body.ExternalRunID, "external-id", "what the runner calls the run; the same again brings the run that there is")
	givenText(flags, &body.Worker, "worker", "who runs it; shown to people")
	givenSeconds(flags, &body.LeaseSeconds, "lease", "how long it is taken to be alive without a heartbeat (default 1m)")
	addRefresh(flags, &refresh)
	return cmd
}

func addRefresh(flags *pflag.FlagSet, streams *[]string) {
	flags.StringSliceVar(streams, "full-refresh", nil, "streams that it reads whole, separated by commas: what it does not bring of them is removed once it has succeeded")
}

// listed is what a flag lists; nil without it.
func listed(values []string) *[]string {
	if values == nil {
		return nil
	}
	return &values
}

func runHeartbeatCmd(g *globals) *cobra.Command {
	var body client.HeartbeatRunRequest
	var refresh []string
	cmd := &cobra.Command{
		Use:   "heartbeat ID --generation N",
		Short: "Extend the lease of a run of a connection",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := require(cmd, "generation"); err != nil {
				return err
			}
			c, err := g.api()
			if err != nil {
				return err
			}
			body.FullRefresh = listed(refresh)
			done, err := api.Answer[client.HeartbeatRunAnswer](c.HeartbeatRun(cmd.Context(), args[0], nil, body))
			if err != nil {
				return err
			}
			return g.printAction(cmd, done.Raw, args[0], fmt.Sprintf("%s is alive until %s", args[0], done.Value.LeaseExpiresAt.Format(time.RFC3339)))
		},
	}
	flags := cmd.Flags()
	flags.Int64Var(&body.Generation, "generation", 0, "of the start")
	givenSeconds(flags, &body.LeaseSeconds, "lease", "for how long from now (default 1m, if that is longer)")
	addRefresh(flags, &refresh)
	return cmd
}

func runFinishCmd(g *globals) *cobra.Command {
	var body client.FinishRunRequest
	var status, code, message string
	cmd := &cobra.Command{
		Use:   "finish ID --generation N --status STATUS",
		Short: "End a run of a connection",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := require(cmd, "generation", "status"); err != nil {
				return err
			}
			if code == "" && cmd.Flags().Changed("message") {
				return usagef("--message needs --code")
			}
			c, err := g.api()
			if err != nil {
				return err
			}
			body.Status = client.FinishRunRequestStatus(status)
			if code != "" {
				body.Error = &client.RunError{Code: code, Message: message}
			}
			done, err := api.Answer[client.FinishedRun](c.FinishRun(cmd.Context(), args[0], nil, body))
			if err != nil {
				return err
			}
			run := done.Value.Run
			return g.printAction(cmd, done.Raw, run.ID, fmt.Sprintf("%s is %s", run.ID, run.Status))
		},
	}
	flags := cmd.Flags()
	flags.Int64Var(&body.Generation, "generation", 0, "of the start")
	flags.StringVar(&status, "status", "", "succeeded, succeeded_with_gaps, failed or cancelled")
	givenText(flags, &body.TerminalReason, "reason", "where the status does not say it all, for programs")
	flags.StringVar(&code, "code", "", "what went wrong, for programs")
	flags.StringVar(&message, "message", "", "what went wrong, for people; needs --code")
	emptyCounts(flags, "message")
	return cmd
}
