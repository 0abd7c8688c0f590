package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// taken is what flags take, by the name of their type.
var taken = map[string]string{
	"bool":        "true or false",
	"int":         "a whole number, such as 3",
	"int64":       "a whole number, such as 3",
	"duration":    "a duration, such as 90s or 1h30m",
	"time":        "a time, such as 2027-01-31T12:00:00Z",
	"stringSlice": "a list with commas between its items",
}

// errFraction: a duration that is not in whole seconds.
var errFraction = errors.New("not in whole seconds")

// flagError says what a flag takes, where a parser of Go says what it was doing.
func flagError(_ *cobra.Command, err error) error {
	wrong, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	f := wrong.GetFlag()
	return fmt.Errorf("--%s is %s, not %q", f.Name, takes(f, err), wrong.GetValue())
}

// takes is what a flag takes, in words, when err was wrong with its value.
func takes(f *pflag.Flag, err error) string {
	switch {
	case errors.Is(err, strconv.ErrRange):
		return "a whole number of at most 64 bits"
	case errors.Is(err, errFraction):
		return "in whole seconds"
	}
	return taken[f.Value.Type()]
}
