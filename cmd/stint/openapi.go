package main

import (
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/server"
)

func openapiCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "openapi",
		Short: "Print the API's OpenAPI document",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// The document that is committed must not change with the build.
			doc, err := server.New(server.Config{Version: "v1", Log: slog.Default()}, nil, make([]byte, 32)).Document()
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(doc)
			return err
		},
	}
}
