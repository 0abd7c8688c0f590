package main

import (
	"encoding/json"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stint-run/stint/server/store"
)

func configCmd(g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Look at the configuration"}
	cmd.AddCommand(&cobra.Command{
		Use:   "show",
		Short: "Show every setting, its value, and where that came from; secrets are hidden",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := everySetting(cmd.Root())
			if err != nil {
				return err
			}
			p := page{Data: []json.RawMessage{}}
			for _, s := range all {
				// The flags of this very command line count too.
				if given, ok := g.settings[s.Name]; ok && s.Command == "" {
					s.setting = given
				}
				if s.Name == "db" || s.Name == "db-listen" {
					s.Value = store.Redact(s.Value)
				}
				raw, err := json.Marshal(s)
				if err != nil {
					return err
				}
				p.Data = append(p.Data, raw)
			}
			return g.printList(cmd, p, "name", "command", "value", "source", "env")
		},
	})
	return cmd
}

// shownSetting is a setting of a command, or of all of them.
type shownSetting struct {
	setting
	Command string `json:"command,omitempty"`
}

// everySetting reads the configurable flags of all commands, once each.
func everySetting(root *cobra.Command) ([]shownSetting, error) {
	var all []shownSetting
	var wrong error
	add := func(flags *pflag.FlagSet, command string) {
		s, err := resolve(flags)
		if err != nil && wrong == nil {
			wrong = err
		}
		flags.VisitAll(func(f *pflag.Flag) {
			if one, ok := s[f.Name]; ok {
				all = append(all, shownSetting{one, command})
			}
		})
	}
	add(root.PersistentFlags(), "")
	for _, cmd := range root.Commands() {
		add(cmd.LocalNonPersistentFlags(), cmd.Name())
	}
	return append(all, tokenSetting()), wrong
}

// tokenSetting is STINT_TOKEN, which has no flag.
func tokenSetting() shownSetting {
	s := setting{Name: "token", Source: fromDefault, Env: []string{"STINT_TOKEN"}}
	if os.Getenv("STINT_TOKEN") != "" {
		s.Value, s.Source = "xxxxx", "STINT_TOKEN"
	}
	return shownSetting{setting: s}
}
