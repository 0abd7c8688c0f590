package main

import (
	"os"
	"strings"

	"github.com/spf13/pflag"
)

// Where a setting's value came from: flags win over the environment, and that
// over defaults.
const (
	fromFlag    = "flag"
	fromDefault = "default"
)

// envKey is the annotation of a flag that names its environment variables.
const envKey = "stint-env"

// emptyKey is the annotation of a flag whose environment variables count when
// they are set and empty, too.
const emptyKey = "stint-env-empty"

// setting is a configurable flag, as it is in effect.
type setting struct {
	Name   string   `json:"name"`
	Value  string   `json:"value"`
	Source string   `json:"source"` // flag, default, or the environment variable
	Env    []string `json:"env"`
}

type settings map[string]setting

func (s settings) of(name string) setting { return s[name] }

// given tells whether a person set the value, in whichever way.
func (s settings) given(name string) bool {
	source := s[name].Source
	return source != "" && source != fromDefault
}

// configurable lets environment variables set a flag that is not given; the
// first that is set counts. Without names it is STINT_ and the flag's own.
func configurable(flags *pflag.FlagSet, name string, env ...string) {
	if len(env) == 0 {
		env = []string{"STINT_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))}
	}
	f := flags.Lookup(name)
	f.Usage += " (" + strings.Join(env, ", ") + ")"
	if err := flags.SetAnnotation(name, envKey, env); err != nil {
		panic(err)
	}
}

// emptyCounts makes an empty variable set the flag: empty means something.
func emptyCounts(flags *pflag.FlagSet, name string) {
	if err := flags.SetAnnotation(name, emptyKey, nil); err != nil {
		panic(err)
	}
}

// resolve gives every configurable flag its value.
func resolve(flags *pflag.FlagSet) (settings, error) {
	all := settings{}
	var wrong error
	flags.VisitAll(func(f *pflag.Flag) {
		env, ok := f.Annotations[envKey]
		if !ok {
			return
		}
		source, err := fill(f, env)
		if err != nil && wrong == nil {
			wrong = err
		}
		all[f.Name] = setting{Name: f.Name, Value: f.Value.String(), Source: source, Env: env}
	})
	return all, wrong
}

// fill sets a flag from the environment if it was not given. An empty variable
// is an unset one, unless the flag says otherwise.
func fill(f *pflag.Flag, env []string) (source string, err error) {
	if f.Changed {
		return fromFlag, nil
	}
	_, empty := f.Annotations[emptyKey]
	for _, name := range env {
		value, set := os.LookupEnv(name)
		if !set || value == "" && !empty {
			continue
		}
		if err := f.Value.Set(value); err != nil {
			// Not the value: STINT_DB may hold a password.
			return name, usagef("%s does not fit --%s, which is %s", name, f.Name, takes(f, err))
		}
		return name, nil
	}
	return fromDefault, nil
}
