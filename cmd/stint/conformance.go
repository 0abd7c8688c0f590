package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/conformance"
	"github.com/stint-run/stint/server"
)

const conformanceHelp = `Start a worker once for each rule of the API, against a scripted server on
loopback, and tell which rules it breaks. No other server and no database is used.

The worker finds STINT_SERVER and STINT_TOKEN in its environment. In its arguments
{kind} is replaced by the kind of job to take, and {command} by the path of a
program to run for each job. The program takes the whole job or the payload alone
from its standard input, and does what the payload says; a worker that runs no
commands does the same itself (docs/conformance.md). The worker must go on until
SIGTERM, and start working within a few seconds.

Each rule is a line: ok, broken or "not checked", its name, and what was seen.
A busy machine makes workers late, and rules look broken: --tries 3 tries those
again with more time.
Leases are 4 to 6 seconds long, whatever the worker asks for. With -v what was
recorded, and the end of what the worker printed, follow each broken rule.

Exit code 0 if no rule is broken, 1 if one is, 2 if the command line is wrong. When
a rule is over, the worker and what it started are killed.`

func conformanceCmd(g *globals) *cobra.Command {
	c := conformance.Config{}
	var names []string
	var list bool
	cmd := &cobra.Command{
		Use:   "conformance [--rule NAME]… -- WORKER [ARG…]",
		Short: "Tell which rules of the API a worker breaks",
		Long:  conformanceHelp,
		Example: "  stint conformance -- stint work --kinds {kind} -- {command}\n" +
			"  stint conformance --rule stop --rule cancel-obeyed -v -- python3 worker.py {kind} {command}",
		RunE: func(cmd *cobra.Command, args []string) error {
			rules, err := conformance.Select(names)
			if err != nil {
				return usage(err)
			}
			if list {
				return g.printRules(cmd, rules)
			}
			c.Worker, c.Rules = args, rules
			return runConformance(cmd, g, c)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&names, "rule", nil, "try this rule only; repeatable")
	flags.BoolVar(&list, "list", false, "print the rules and why each is there")
	flags.IntVar(&c.Parallel, "parallel", 9, "rules at a time, 1 to 100")
	flags.IntVar(&c.Tries, "tries", 1, "try a rule that looks broken so often, 1 to 4, each time with times twice as long")
	cmd.AddCommand(conformanceWorkCmd())
	return cmd
}

// conformanceWorkCmd is the program behind {command}. It reads no settings: its
// surroundings are the worker's.
func conformanceWorkCmd() *cobra.Command {
	return &cobra.Command{
		Use: workOfConformance, Hidden: true, Args: cobra.NoArgs,
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		Run:               func(*cobra.Command, []string) { conformance.Do(os.Stdin) },
	}
}

const workOfConformance = "do-as-the-payload-says"

func runConformance(cmd *cobra.Command, g *globals, c conformance.Config) error {
	if err := checkConformance(&c); err != nil {
		return usage(err)
	}
	dir, err := os.MkdirTemp("", "stint-conformance-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c.Temp = dir
	if c.Command, err = writeCommand(dir); err != nil {
		return err
	}
	if c.Document, err = server.New(server.Config{Version: "v1", Log: slog.Default()}, nil, make([]byte, 32)).Document(); err != nil {
		return err
	}
	if err := conformance.Adopt(); err != nil {
		return err
	}
	defer conformance.Sweep()
	return g.printVerdicts(cmd.Context(), cmd.OutOrStdout(), c)
}

func checkConformance(c *conformance.Config) error {
	switch {
	case len(c.Worker) == 0:
		return errors.New("the worker is missing: it stands behind --")
	case c.Parallel < 1 || c.Parallel > 100:
		return errors.New("--parallel is 1 to 100")
	case c.Tries < 1 || c.Tries > 4:
		return errors.New("--tries is 1 to 4")
	case !strings.Contains(strings.Join(c.Worker, " "), "{kind}"):
		return errors.New("the worker's arguments have no {kind}: without it the worker does not know which jobs to take")
	}
	path, err := exec.LookPath(c.Worker[0])
	if err != nil {
		return fmt.Errorf("find the worker: %w", err)
	}
	c.Worker[0] = path
	return nil
}

// writeCommand writes a program that takes no arguments: this one's, with the
// word that it needs.
func writeCommand(dir string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "stint")
	if err := os.Symlink(self, name); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "command")
	text := fmt.Sprintf("#!/bin/sh\nexec '%s' conformance %s\n", strings.ReplaceAll(name, "'", `'\''`), workOfConformance)
	return path, os.WriteFile(path, []byte(text), 0o700)
}

// printVerdicts runs the rules and prints each verdict as it comes.
func (g *globals) printVerdicts(ctx context.Context, w io.Writer, c conformance.Config) error {
	begun, count := time.Now(), map[string]int{}
	verdicts := []conformance.Verdict{}
	err := conformance.Run(ctx, c, func(v conformance.Verdict) {
		count[v.State]++
		if !g.verbose || v.State != conformance.Broken {
			v.Tape, v.Output = nil, nil
		}
		verdicts = append(verdicts, v)
		switch g.Output {
		case "jsonl":
			_ = printJSON(w, v)
		case "table":
			printVerdict(w, v)
		}
	})
	if err != nil {
		return err
	}
	switch g.Output {
	case "json":
		err = printJSON(w, map[string]any{"rules": verdicts, "broken": count[conformance.Broken], "seconds": time.Since(begun).Seconds()})
	case "table":
		_, err = fmt.Fprintf(w, "rules: %d ok, %d broken, %d not checked, in %.0f s\n",
			count[conformance.OK], count[conformance.Broken], count[conformance.NotChecked], time.Since(begun).Seconds())
	}
	if err == nil && count[conformance.Broken] > 0 {
		err = fmt.Errorf("broken rules: %d of %d", count[conformance.Broken], len(verdicts))
	}
	return err
}

func printVerdict(w io.Writer, v conformance.Verdict) {
	fmt.Fprintf(w, "%-11s  %-23s  %s\n", v.State, v.Rule, printable(v.Seen))
	if v.State == conformance.Broken {
		fmt.Fprintf(w, "%38s %s\n", "rule:", v.Why)
	}
	for _, line := range v.Tape {
		fmt.Fprintln(w, "   ", printable(line))
	}
	for _, line := range v.Output {
		fmt.Fprintln(w, "    the worker:", printable(line))
	}
}

func (g *globals) printRules(cmd *cobra.Command, rules []conformance.Rule) error {
	w := cmd.OutOrStdout()
	for _, r := range rules {
		if g.Output == "table" {
			fmt.Fprintf(w, "%-23s  %s\n", r.Name, r.Why)
			continue
		}
		if err := printJSON(w, map[string]string{"rule": r.Name, "why": r.Why}); err != nil {
			return err
		}
	}
	return nil
}
