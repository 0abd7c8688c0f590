package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// given is a flag of a member that a request need not have: nil without the flag.
// With it the member is sent, also when it is empty or zero, for the server to
// judge. So `--key "$KEY"` with an unset variable is refused; taken for a flag that
// was left out, it would enqueue a job that nothing deduplicates.
type given[T any] struct {
	to       **T
	typeName string
	parse    func(string) (T, error)
}

func (g given[T]) Set(text string) error {
	value, err := g.parse(text)
	if err == nil {
		*g.to = &value
	}
	return err
}

func (g given[T]) String() string {
	if g.to == nil || *g.to == nil {
		return ""
	}
	return fmt.Sprint(**g.to)
}

func (g given[T]) Type() string { return g.typeName }

// sentAsGiven marks the flags whose empty values the server judges.
func (given[T]) sentAsGiven() {}

func givenText[T ~string](flags *pflag.FlagSet, to **T, name, usage string) {
	flags.Var(given[T]{to, "string", func(text string) (T, error) { return T(text), nil }}, name, usage)
}

func givenNumber(flags *pflag.FlagSet, to **int64, name, usage string) {
	flags.Var(given[int64]{to, "int", parseNumber}, name, usage)
}

// givenSeconds is a duration in the command line, and whole seconds in the request.
func givenSeconds(flags *pflag.FlagSet, to **int64, name, usage string) {
	flags.Var(given[int64]{to, "duration", parseSeconds}, name, usage)
}

func givenTime(flags *pflag.FlagSet, to **time.Time, name, usage string) {
	flags.Var(given[time.Time]{to, "time", parseTime}, name, usage)
}

func parseNumber(text string) (int64, error) { return strconv.ParseInt(text, 10, 64) }

func parseSeconds(text string) (int64, error) {
	d, err := time.ParseDuration(text)
	if err == nil && d%time.Second != 0 {
		err = errFraction
	}
	return int64(d / time.Second), err
}

func parseTime(text string) (time.Time, error) { return time.Parse(time.RFC3339, text) }

// givenJSON is the JSON value of a flag, itself or what @FILE or @- holds; nil
// without the flag.
func givenJSON(cmd *cobra.Command, name, value string) (json.RawMessage, error) {
	if !cmd.Flags().Changed(name) {
		return nil, nil
	}
	return readJSON("--"+name, value, cmd.InOrStdin())
}

// require refuses a command line that lacks one of the flags.
func require(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if !cmd.Flags().Changed(name) {
			return usagef("--%s is missing", name)
		}
	}
	return nil
}

// refuseEmpty refuses a flag that was given an empty value, as an unset shell
// variable is, unless empty means something for it or the server judges it.
func refuseEmpty(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		_, means := f.Annotations[emptyKey]
		_, sent := f.Value.(interface{ sentAsGiven() })
		if value := f.Value.String(); err == nil && !means && !sent && (value == "" || value == "[]") {
			err = usagef("--%s is empty", f.Name)
		}
	})
	return err
}

// refuseEmptyArgs refuses an empty argument as refuseEmpty does a flag: it would be
// read as a name, or as none. Those of the command that work and conformance run
// are that command's.
func refuseEmptyArgs(cmd *cobra.Command, args []string) error {
	i := slices.Index(args, "")
	if i < 0 || strings.Contains(cmd.Use, " -- ") {
		return nil
	}
	if names := strings.Fields(cmd.Use)[1:]; i < len(names) {
		return usagef("%s is empty", names[i])
	}
	return usagef("argument %d is empty", i+1)
}
