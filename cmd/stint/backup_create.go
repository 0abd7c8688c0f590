package main

import (
	"github.com/spf13/cobra"

	"github.com/stint-run/stint/server/store/backup"
)

func backupCreateCmd(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "create FILE",
		Short: "Write the database as it stands at one instant into a new file; the server may run",
		Long: "Write the database as it stands at one instant into a new file, which only its owner can read.\n" +
			"The server may run meanwhile. The file is checked and on disk before it appears, and replaces nothing.\n" +
			"On PostgreSQL it is an archive of pg_dump, whose programs must be installed.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ignoreFileSizeSignal()
			o, done := backupOptions(g, cmd.ErrOrStderr(), args[0])
			r, err := backup.Create(cmd.Context(), o)
			done()
			return printBackup(cmd, g, r, "wrote "+args[0], err)
		},
	}
}
