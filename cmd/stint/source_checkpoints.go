package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/api"
)

// checkpoints are those of a connection.
type checkpoints struct {
	Data []struct {
		Stream     *string         `json:"stream"`
		Checkpoint json.RawMessage `json:"checkpoint"`
	} `json:"data"`
}

// of is the checkpoint of a stream, or of the connection as a whole; nil if there
// is none.
func (c *checkpoints) of(stream *string) json.RawMessage {
	for _, p := range c.Data {
		if (p.Stream == nil) == (stream == nil) && (stream == nil || *p.Stream == *stream) {
			return p.Checkpoint
		}
	}
	return nil
}

func sourceCheckpointsCmd(g *globals) *cobra.Command {
	stream := ""
	all := false
	cmd := &cobra.Command{
		Use:   "checkpoints CONNECTION",
		Short: "Print how far a source was read",
		Long: `Print the last checkpoint without a stream, as it was sent, on one line; {} when
there is none yet. Of a Singer tap that is its last state, for the tap's --state.
With --stream it is that of one stream, with --all the list of all of them.`,
		Example: `  stint source checkpoints weather >state.json`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.api()
			if err != nil {
				return err
			}
			if all {
				list, err := api.Answer[page](c.ListCheckpoints(cmd.Context(), args[0]))
				if err != nil {
					return err
				}
				return g.printList(cmd, list.Value, "stream", "checkpoint", "run_id", "updated_at")
			}
			got, err := api.Answer[checkpoints](c.ListCheckpoints(cmd.Context(), args[0]))
			if err != nil {
				return err
			}
			if stream != "" {
				return printCheckpoint(cmd, got.Value.of(&stream))
			}
			return printCheckpoint(cmd, got.Value.of(nil))
		},
	}
	cmd.Flags().StringVar(&stream, "stream", "", "of this stream")
	cmd.Flags().BoolVar(&all, "all", false, "list all, with their streams")
	return cmd
}

// printCheckpoint prints the value alone, whatever -o says: it is a program's.
func printCheckpoint(cmd *cobra.Command, value json.RawMessage) error {
	if value == nil {
		value = json.RawMessage("{}")
	}
	var line bytes.Buffer
	if err := json.Compact(&line, value); err != nil {
		return fmt.Errorf("the answer is not the API's: %w", err)
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), line.String())
	return err
}
