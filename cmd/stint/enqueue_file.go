package main

import "github.com/spf13/cobra"

func enqueueFile(_ *cobra.Command, _ *globals, _ *enqueueFlags) error { return usagef("soon") }
