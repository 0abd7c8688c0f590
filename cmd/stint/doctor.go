package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/api"
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
			answer, err := g.askServer()
			if err != nil {
				return err
			}
			report, err := doctor.Run(cmd.Context(), doctor.Config{
				URL: g.DB, Source: source, EnvPassword: os.Getenv("PGPASSWORD") != "",
				Server: answer, Limits: doctor.Defaults,
			})
			if err != nil && store.Away(err) {
				err = fmt.Errorf("the database cannot be reached: %w", err)
			}
			if err != nil {
				return databaseError(err)
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

// askServer asks the server of the flags how it is.
func (g *globals) askServer() (doctor.Server, error) {
	s := doctor.Server{URL: g.server, Named: g.settings.given("server")}
	roots, err := g.roots()
	if err != nil {
		return s, err
	}
	client := &http.Client{Timeout: serverPatience, Transport: api.Transport(roots)}
	resp, err := client.Get(g.server + "/readyz?verbose")
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err // the address is told anyway
		}
		s.Detail = err.Error()
		if api.UnknownAuthority(err) {
			s.Advice = api.NameAuthority
		}
		return s, nil
	}
	defer resp.Body.Close()
	readReady(&s, resp.Body)
	return s, nil
}

// readReady reads an answer of /readyz?verbose.
func readReady(s *doctor.Server, body io.Reader) {
	var answer struct {
		Status  any             `json:"status"` // a word, or of a problem the number
		Code    string          `json:"code"`
		Detail  string          `json:"detail"`
		Replica json.RawMessage `json:"replica"`
	}
	if json.NewDecoder(io.LimitReader(body, 1<<20)).Decode(&answer) != nil || answer.Status == nil {
		s.Other = true
		return
	}
	s.Answered, s.Ready = true, answer.Status == "ready"
	s.Detail = cmp.Or(answer.Detail, answer.Code)
	_ = json.Unmarshal(answer.Replica, &s.Replica) // absent, while the server starts
}
