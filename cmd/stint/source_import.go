package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/ingest"
	"github.com/stint-run/stint/server/records"
)

// importFlags are the flags of stint source import.
type importFlags struct {
	sendFlags
	run         bool
	fullRefresh []string
}

func sourceImportCmd(g *globals) *cobra.Command {
	f := &importFlags{}
	cmd := &cobra.Command{
		Use:   "import FILE|- --connection CONNECTION",
		Short: "Send a file of records to a connection",
		Long: `Send NDJSON to a connection. Each line is a record, {"stream", "data"} with op, key
and emitted_at if wanted, or a checkpoint, {"checkpoint"} with or without stream.

Lines go in batches of up to 1,000 lines and 8 MiB. When it breaks off, run it
again: the server knows the batches of the same input for 30 days, and answers
those that it has taken as it did then. So a file that was imported before, and
whose records were changed by others since, is written anew only with --run.

A line that is no record is rejected alone, and named with its number. The server
keeps it: see GET /v1/connections/{connection}/rejections. The exit code is then 1.

With --run the lines belong to a run of the connection, which no other run
overlaps. With --full-refresh STREAM the records of that stream that the file does
not have are removed after it, if all of it was taken. It needs a file: standard
input does not tell whether the program that writes it came to its end.`,
		Example: `  stint source import records.ndjson --connection packages
  ./packages.sh packages >lines && stint source import lines --connection packages --full-refresh packages`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return importLines(cmd, g, f, args[0])
		},
	}
	f.add(cmd.Flags())
	cmd.Flags().BoolVar(&f.run, "run", false, "send the lines in a run of the connection")
	cmd.Flags().StringArrayVar(&f.fullRefresh, "full-refresh", nil, "in a run: FILE has all records of this stream; may be repeated")
	return cmd
}

func importLines(cmd *cobra.Command, g *globals, f *importFlags, path string) error {
	if path == "-" && len(f.fullRefresh) > 0 {
		return usage(errors.New("--full-refresh needs a FILE: standard input does not tell whether its writer came to its end, and what is missing is removed"))
	}
	s, err := newSending(cmd, g, &f.sendFlags)
	if err != nil {
		return err
	}
	in, err := openInput(cmd, path)
	if err != nil {
		return err
	}
	defer in.Close()
	ctx := cmd.Context()
	if f.run || len(f.fullRefresh) > 0 {
		if ctx, err = s.begin(ctx, f.fullRefresh); err != nil {
			return err
		}
	}
	err = s.all(ctx, in)
	if err = s.finish(ctx, err, nil); err != nil {
		return s.unfinished(err)
	}
	return s.report(g, cmd.OutOrStdout())
}

// all sends all lines of the input.
func (s *sending) all(ctx context.Context, in io.Reader) error {
	send := func(b *ingest.Batch) error {
		_, err := s.Send(ctx, b)
		return err
	}
	return ingest.Each(ctx, ingest.Lines(ctx, in, records.MaxLine), send, s.sum.TooLong)
}

// openInput opens a file, or standard input if its path is -.
func openInput(cmd *cobra.Command, path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(cmd.InOrStdin()), nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, usage(err)
	}
	return file, nil
}
