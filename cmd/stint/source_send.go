package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/cmd/stint/internal/ingest"
	"github.com/stint-run/stint/gen/client"
)

// lastWord is how long a command that failed tries to say so of its run.
const lastWord = 5 * time.Second

// sendFlags are the flags of commands that send lines.
type sendFlags struct {
	connection string
	device     string
}

func (f *sendFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.connection, "connection", "", "the connection: its id, or its connector's id if that has no other")
	flags.StringVar(&f.device, "device", "", "name of the device that the lines come from (default none)")
}

// sending sends the lines of one input, and sums up what became of them.
type sending struct {
	*ingest.Sender
	sum *ingest.Sum
	bar *progress
}

func newSending(cmd *cobra.Command, g *globals, f *sendFlags) (*sending, error) {
	if err := require(cmd, "connection"); err != nil {
		return nil, err
	}
	c, err := g.api()
	if err != nil {
		return nil, err
	}
	s := &sending{sum: ingest.NewSum(), bar: newProgress(g, cmd.ErrOrStderr(), "lines", 0)}
	s.Sender = &ingest.Sender{API: c, Connection: f.connection, Away: s.away}
	if f.device != "" {
		s.Device = &f.device
	}
	return s, nil
}

func (s *sending) away(err error) { s.bar.note("stint: trying again: " + err.Error()) }

// begin starts a run for the lines. The context ends when the run is lost.
func (s *sending) begin(ctx context.Context, fullRefresh []string) (context.Context, error) {
	run, within, err := ingest.Start(ctx, s.API, s.Connection, fullRefresh, s.away)
	if err != nil {
		return nil, err
	}
	s.Run, s.Salt, s.Connection = run, run.ID, run.Connection
	s.sum.RunID = &run.ID
	return within, nil
}

// Send sends a batch, and counts what became of its lines.
func (s *sending) Send(ctx context.Context, b *ingest.Batch) (*ingest.Answer, error) {
	answer, err := s.Sender.Send(ctx, b)
	if err != nil {
		return nil, err
	}
	s.sum.Add(b, answer)
	s.bar.add(len(b.Lines))
	return answer, nil
}

// finish ends the run, if there is one, as the lines did: with err, with gaps, or
// well. Its error is err, or that of finishing.
func (s *sending) finish(ctx context.Context, err error, gaps []string) error {
	s.bar.end()
	if s.Run == nil {
		return err
	}
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWord)
		defer cancel()
		end := ingest.End{Status: client.FinishRunRequestStatusFailed, Err: err}
		if errors.Is(err, context.Canceled) {
			end = ingest.End{Status: client.FinishRunRequestStatusCancelled, Reason: "interrupted"}
		}
		_ = s.Run.Finish(ctx, end) // the run ends with its lease too
		return err
	}
	end := ingest.End{Status: client.FinishRunRequestStatusSucceeded}
	if s.sum.RejectedCount > 0 {
		gaps = append(gaps, fmt.Sprintf("%d lines were rejected", s.sum.RejectedCount))
	}
	if len(gaps) > 0 {
		end = ingest.End{Status: client.FinishRunRequestStatusSucceededWithGaps, Reason: "incomplete"}
	}
	if err := s.Run.Finish(ctx, end); err != nil {
		return fmt.Errorf("finish the run %s: %w", s.Run.ID, err)
	}
	return nil
}

// unfinished says what to do when err broke it off.
func (s *sending) unfinished(err error) error {
	if done := s.sum.Lines(); done > 0 || api.Retry(err) {
		return fmt.Errorf("%w\nstint: %d lines are done; run it again to go on, nothing is taken twice", err, done)
	}
	return err
}

// report prints the sum, and names the lines that were rejected.
func (s *sending) report(g *globals, w io.Writer) error {
	switch {
	case g.Output != "table":
		if err := printJSON(w, s.sum); err != nil {
			return err
		}
	case !g.quiet:
		fmt.Fprintln(w, s.sum.Words())
	}
	return s.faults()
}

// faults names the lines that were rejected; nil if all were taken.
func (s *sending) faults() error {
	if s.sum.RejectedCount == 0 {
		return nil
	}
	return &exitError{exitFailed, errors.New(strings.Join(s.sum.Faults(), "\nstint: "))}
}
