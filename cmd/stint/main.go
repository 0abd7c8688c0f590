// Command stint is the server, its command line and its workers in one binary.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/stint-run/stint/cmd/stint/internal/outcome"
	"github.com/stint-run/stint/cmd/stint/internal/supervise"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

// globals are the flags that every sub-command shares.
type globals struct {
	DB     string // sqlite:PATH or postgres://…
	Output string // table, json or jsonl

	server    string
	tokenFile string
	caFile    string
	token     string // never a flag: arguments are seen by everybody on the machine
	emptyFile string // that was to hold the token
	quiet     bool
	verbose   bool
	settings  settings

	stops   chan os.Signal // that ask the command to stop
	outputs asyncOutputs   // of a command that runs for long
}

func main() {
	if code, ok := supervise.Main(outcome.New); ok {
		os.Exit(code)
	}
	os.Exit(run())
}

// run is main with an exit code; tests call it as a command.
func run() int {
	g := &globals{stops: newStops()}
	root := rootCmd(g)
	defer func() { g.outputs.flush() }()
	err := execute(untilStopped(g.stops), root)
	if err == nil {
		return 0
	}
	fmt.Fprintln(root.ErrOrStderr(), "stint:", readable(message(err)))
	return exitCode(err)
}

// message is what a person reads of an error: of a driver's, which may have many
// lines, one; of a fault with items the items, as of the server's.
func message(err error) string {
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok {
		return err.Error()
	}
	if len(f.Errors) == 0 {
		return strings.Join(strings.Fields(f.Error()), " ")
	}
	items := make([]string, len(f.Errors))
	for i, item := range f.Errors {
		items[i] = item.Pointer + ": " + item.Detail
	}
	return f.Code + ": " + strings.Join(items, "; ")
}

// execute runs the command line. What goes wrong before a command begins is
// wrong with the command line itself.
func execute(ctx context.Context, root *cobra.Command) error {
	begun := false
	prepare := root.PersistentPreRunE
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		if err := prepare(cmd, args); err != nil {
			return err
		}
		begun = true
		return nil
	}
	err := root.ExecuteContext(ctx)
	if err != nil && !begun {
		return usage(err)
	}
	return err
}

// defaultDB is the database that no flag and no variable names.
const defaultDB = "sqlite:stint.db"

func rootCmd(g *globals) *cobra.Command {
	root := &cobra.Command{
		Use:           "stint",
		Short:         "The system of record for unattended work",
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			return g.resolve(cmd, args)
		},
	}
	flags := root.PersistentFlags()
	flags.StringVar(&g.DB, "db", defaultDB, "database: sqlite:PATH or postgres://…, without a password")
	flags.StringVar(&g.server, "server", "http://127.0.0.1:8480", "the server's URL")
	flags.StringVar(&g.tokenFile, "token-file", "stint.db.token", "file with the token; STINT_TOKEN, which holds the token itself, comes before STINT_TOKEN_FILE")
	flags.StringVar(&g.caFile, "ca-file", "", "PEM file with the authorities that the server's certificate may come from (default the system's)")
	flags.StringVarP(&g.Output, "output", "o", "", "table, json or jsonl (default table on a terminal, else json)")
	flags.BoolVarP(&g.quiet, "quiet", "q", false, "print ids and errors only")
	flags.BoolVarP(&g.verbose, "verbose", "v", false, "log more")
	configurable(flags, "db", "STINT_DB", "DATABASE_URL")
	configurable(flags, "server", "STINT_SERVER")
	configurable(flags, "ca-file", "STINT_CA_FILE")
	configurable(flags, "token-file", "STINT_TOKEN_FILE")
	configurable(flags, "output", "STINT_OUTPUT")
	root.AddCommand(serveCmd(g), devCmd(g), migrateCmd(g), backupCmd(g), doctorCmd(g), fsckCmd(g), workCmd(g),
		jobCmd(g), runCmd(g), workerCmd(g), kindCmd(g), tokenCmd(g), loginCmd(g), leasesCmd(g),
		repoCmd(g), proposalCmd(g), sourceCmd(g), connectorCmd(g),
		healthcheckCmd(g), configCmd(g), openapiCmd(), versionCmd(g), benchCmd(g), conformanceCmd(g))
	root.SetFlagErrorFunc(flagError)
	requireSubcommands(root)
	return root
}

// requireSubcommands makes a group without, or with an unknown, sub-command a
// fault of the command line; cobra alone prints its help and exits 0.
func requireSubcommands(parent *cobra.Command) {
	for _, cmd := range parent.Commands() {
		requireSubcommands(cmd)
	}
	if parent.HasParent() && !parent.Runnable() {
		parent.Args = cobra.ArbitraryArgs
		parent.RunE = func(cmd *cobra.Command, args []string) error { return noSubcommand(cmd, args) }
	}
}

func noSubcommand(cmd *cobra.Command, args []string) error {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	list := strings.Join(names, ", ")
	if len(args) > 0 {
		return usagef("%s has no sub-command %q, only: %s", cmd.CommandPath(), args[0], list)
	}
	return usagef("%s needs a sub-command: %s", cmd.CommandPath(), list)
}

// resolve fills in what the environment sets, and refuses what cannot be meant.
func (g *globals) resolve(cmd *cobra.Command, args []string) error {
	if err := cmp.Or(refuseEmpty(cmd.Flags()), refuseEmptyArgs(cmd, args)); err != nil {
		return err
	}
	s, err := resolve(cmd.Flags())
	if err != nil {
		return err
	}
	g.settings, g.server = s, strings.TrimRight(g.server, "/")
	if s.of("db").Source == fromFlag {
		if err := checkDB(g.DB); err != nil {
			return err
		}
	}
	if err := checkServer(g.server); err != nil {
		return err
	}
	if g.Output == "" {
		g.Output = "json"
		if isTerminal(cmd.OutOrStdout()) {
			g.Output = "table"
		}
	}
	if !slices.Contains([]string{"table", "json", "jsonl"}, g.Output) {
		return usagef("-o is table, json or jsonl, not %q", g.Output)
	}
	return g.readToken()
}

// checkDB refuses a --db that names no database, or holds a password.
func checkDB(url string) error {
	const forms = "--db is sqlite:PATH or postgres://…"
	_, err := store.EngineOf(url)
	switch {
	case err != nil && (url == "" || strings.ContainsAny(url, "@:=")): // any other may be a connection with a password
		return usagef(forms)
	case err != nil:
		return usagef(forms+", not %q; did you mean sqlite:%s?", url, url)
	case store.HasPassword(url):
		return usagef("a password in --db is seen by everybody on the machine: put the URL into STINT_DB or DATABASE_URL")
	}
	return nil
}

// checkServer refuses a URL with a user or password: the token alone counts, and
// the URL is shown in messages and told to commands.
func checkServer(raw string) error {
	u, err := url.Parse(raw)
	if err == nil && u.User == nil || err != nil && !strings.Contains(raw, "@") {
		return nil
	}
	return usagef("--server (STINT_SERVER) is a URL without a user or password: a token proves who asks")
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
