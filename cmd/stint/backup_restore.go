package main

import (
	"github.com/spf13/cobra"

	"github.com/stint-run/stint/server/store/backup"
)

func backupRestoreCmd(g *globals) *cobra.Command {
	force := false
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Make the database of --db of a backup; it must not exist yet",
		Long: "Make the database of --db of a backup. It must not exist yet: on SQLite there is no file, on\n" +
			"PostgreSQL a database without Stint's tables. The backup is checked before anything is put in place.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ignoreFileSizeSignal()
			o, done := backupOptions(g, cmd.ErrOrStderr(), args[0])
			o.Force = force
			r, err := backup.Restore(cmd.Context(), o)
			done()
			return printBackup(cmd, g, r, "restored "+args[0]+" into "+g.named(), err)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace an SQLite database of Stint; the server must be stopped")
	return cmd
}
