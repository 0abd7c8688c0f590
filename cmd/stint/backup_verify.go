package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/server/store/backup"
)

func backupVerifyCmd(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "verify FILE",
		Short: "Exit 1 unless every byte of a backup is as it was written; needs no database",
		Long: "Read a backup and compare it with the checksum that its last line holds. Exit 1 if one bit differs, and\n" +
			"for a file without a checksum, as releases before this one made them. It needs no database.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, done := backupOptions(g, cmd.ErrOrStderr(), args[0])
			v, err := backup.Verify(cmd.Context(), o)
			done()
			if err != nil {
				return err
			}
			raw, err := json.Marshal(v)
			if err != nil {
				return err
			}
			return g.printAction(cmd, raw, v.File, fmt.Sprintf("%s: %s, as it was written", v.File, megabytes(v.Bytes)))
		},
	}
}
