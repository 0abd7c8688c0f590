package main

import (
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/server"
)

func openapiCmd() *cobra.Command {
	var version string
	cmd := &cobra.Command{
		Use:   "openapi",
		Short: "Print the API's OpenAPI document",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// The document that is committed must not change with the build.
			api := server.New(server.Config{Version: "v1", Log: slog.Default()}, nil, make([]byte, 32))
			document, known := map[string]func() ([]byte, error){"3.1": api.Document, "3.0": api.Document30}[version]
			if !known {
				return usagef("--openapi is 3.1 or 3.0, not %q", version)
			}
			doc, err := document()
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(doc)
			return err
		},
	}
	cmd.Flags().StringVar(&version, "openapi", "3.1", "version of OpenAPI: 3.1, or 3.0 for generators that read no newer one")
	return cmd
}
