package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/server/doctor"
	"github.com/stint-run/stint/server/store"
)

// serverPatience bounds the question to the server, which is asked on the side.
const serverPatience = 3 * time.Second

func doctorCmd(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check the database, and the server if it answers; exit 1 if a check fails",
		Long: "Check the database of --db, and the server of --server if it answers, and advise. It changes nothing.\n" +
			"What the role may not read is unknown. Exit code 0 if no check fails, 1 if one does, 75 if the database is away.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			source := g.settings.of("db").Source
			report, err := doctor.Run(cmd.Context(), doctor.Config{
				URL: g.DB, Source: source, EnvPassword: os.Getenv("PGPASSWORD") != "",
				Server: askServer(g.server), Limits: doctor.Defaults,
			})
			if err != nil && store.Away(err) {
				return &exitError{exitRetryLater, fmt.Errorf("the database cannot be reached: %w", err)}
			}
			if err != nil {
				return err
			}
			if err := g.printChecks(cmd.OutOrStdout(), report); err != nil {
				return err
			}
			return failed(report)
		},
	}
}

// failed is the error of a report with checks that failed.
func failed(r doctor.Report) error {
	var ids []string
	for _, c := range r.Checks {
		if c.State == doctor.Fail {
			ids = append(ids, c.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return &exitError{exitFailed, errors.New("failed: " + strings.Join(ids, ", "))}
}

func (g *globals) printChecks(w io.Writer, r doctor.Report) error {
	switch {
	case g.Output == "json":
		return printJSON(w, r)
	case g.Output == "jsonl":
		for _, c := range r.Checks {
			if err := printJSON(w, c); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "STATE\tCHECK\tVALUE\tFINDING")
	for _, c := range r.Checks {
		if g.quiet && c.State == doctor.OK {
			continue
		}
		value := "-"
		if c.Value != nil {
			value = strings.TrimSpace(fmt.Sprint(c.Value, " ", c.Unit))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", c.State, c.ID, printable(value), printable(c.Detail))
		if c.Advice != "" {
			fmt.Fprintf(t, "\t\t\t→ %s\n", printable(c.Advice))
		}
	}
	return t.Flush()
}

// askServer asks a server how it is; one that is not there says nothing.
func askServer(url string) doctor.Server {
	s := doctor.Server{URL: url}
	resp, err := (&http.Client{Timeout: serverPatience}).Get(url + "/readyz?verbose")
	if err != nil {
		return s
	}
	defer resp.Body.Close()
	var answer struct {
		Status  any             `json:"status"` // a word, or of a problem the number
		Code    string          `json:"code"`
		Detail  string          `json:"detail"`
		Replica json.RawMessage `json:"replica"`
	}
	if json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&answer) != nil || answer.Status == nil {
		return s // something else answers there
	}
	s.Answered, s.Ready = true, answer.Status == "ready"
	s.Detail = cmp.Or(answer.Detail, answer.Code)
	_ = json.Unmarshal(answer.Replica, &s.Replica) // absent, while the server starts
	return s
}
