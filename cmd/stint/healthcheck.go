package main

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/api"
)

func healthcheckCmd(g *globals) *cobra.Command {
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "healthcheck",
		Short: "Exit 0 if the server is ready, 1 if not",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if wait <= 0 {
				return usagef("--timeout is above 0")
			}
			roots, err := g.roots()
			if err != nil {
				return err
			}
			client := &http.Client{Timeout: wait, Transport: api.Transport(roots)}
			resp, err := client.Get(g.server + "/readyz")
			ready, err := api.Answer[struct {
				Status string `json:"status"`
			}](resp, err)
			if err == nil && ready.Value.Status != "ready" {
				err = errors.New("what answers is not a Stint server")
			}
			if err != nil {
				return &exitError{exitFailed, fmt.Errorf("not ready: %w", err)}
			}
			return g.printAction(cmd, ready.Raw, "ready", "ready")
		},
	}
	cmd.Flags().DurationVar(&wait, "timeout", 5*time.Second, "how long to wait for the answer")
	return cmd
}
