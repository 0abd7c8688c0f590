package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/store/backup"
)

func backupCmd(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup",
		Short: "Write the database into one file, verify such a file, or make a database of it",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(backupCreateCmd(g), backupRestoreCmd(g), backupVerifyCmd(g))
	return cmd
}

// backupOptions are those of both sub-commands; done is called at the end.
func backupOptions(g *globals, w io.Writer, file string) (o backup.Options, done func()) {
	p := newBytesProgress(g, w)
	return backup.Options{URL: g.DB, File: file, Progress: p.at}, p.close
}

// printBackup prints what was done, or gives the error its exit code.
func printBackup(cmd *cobra.Command, g *globals, r backup.Report, words string, err error) error {
	if errors.Is(err, backup.ErrAway) {
		return &exitError{exitRetryLater, err}
	}
	if err != nil {
		return err
	}
	for _, warning := range r.Warnings {
		fmt.Fprintln(cmd.ErrOrStderr(), "stint: warning:", warning)
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s: %s, schema %s, read back and sound", words, megabytes(r.Bytes), r.Schema)
	if len(r.Pending) > 0 {
		text += "; the next start applies " + strings.Join(r.Pending, ", ")
	}
	return g.printAction(cmd, raw, r.File, text)
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// bytesProgress shows how many bytes are done: all the time on a terminal, and
// now and then elsewhere.
type bytesProgress struct {
	*progress
	done, of int64
}

func newBytesProgress(g *globals, w io.Writer) *bytesProgress {
	return &bytesProgress{progress: newProgress(g, w, "", 0)}
}

func (p *bytesProgress) at(done, total int64) {
	p.done, p.of = done, total
	every := lineEvery
	if p.terminal {
		every = redrawEvery
	}
	if time.Since(p.shown) < every {
		return
	}
	p.shown = time.Now()
	text := megabytes(p.done)
	if p.of > 0 {
		text += " of " + megabytes(p.of)
	}
	p.step(text)
}

// named is the database of the flags, fit to be shown.
func (g *globals) named() string { return store.Redact(g.DB) }
