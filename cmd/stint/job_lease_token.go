package main

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const leaseTokenVariable = "STINT_LEASE_TOKEN"

// addLease adds the flag that proves a lease. Before the command runs, token is
// the lease token itself; without one the command is refused.
func addLease(cmd *cobra.Command, token *string) {
	var from string
	cmd.Flags().StringVar(&from, "lease-token", "",
		"the lease token, as the claim printed it: @FILE, @- ("+leaseTokenVariable+" holds the token itself)")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		flag := cmd.Flags().Lookup("lease-token")
		if !flag.Changed {
			*token = strings.TrimSpace(os.Getenv(leaseTokenVariable))
			return checkLeaseToken(*token)
		}
		if from == "@-" {
			if other := readsInput(cmd.Flags(), flag); other != "" {
				return usagef("--lease-token and --%s cannot both be read from standard input", other)
			}
		}
		var err error
		*token, err = readLeaseToken(from, cmd.InOrStdin())
		return err
	}
}

// readsInput names another flag that reads standard input.
func readsInput(flags *pflag.FlagSet, but *pflag.Flag) (name string) {
	flags.Visit(func(f *pflag.Flag) {
		if f != but && f.Value.String() == "@-" {
			name = f.Name
		}
	})
	return name
}

func readLeaseToken(from string, stdin io.Reader) (string, error) {
	path, ok := strings.CutPrefix(from, "@")
	switch {
	case from == "":
		return "", checkLeaseToken("")
	case !ok:
		return "", usagef("a lease token in --lease-token is seen by everybody on the machine: put it into %s, or into a file that --lease-token @FILE names (@-: standard input)", leaseTokenVariable)
	}
	text, err := readNamed(path, stdin, maxToken)
	if err != nil {
		return "", usagef("read --lease-token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	return token, checkLeaseToken(token)
}

// checkLeaseToken refuses what cannot be a token, and does not repeat it.
func checkLeaseToken(token string) error {
	switch {
	case token == "":
		return usagef("the lease token that the claim printed is missing: put it into %s, or name its file with --lease-token @FILE (@-: standard input)", leaseTokenVariable)
	case strings.ContainsAny(token, "\r\n"):
		return usagef("the lease token is not one line")
	}
	return nil
}
