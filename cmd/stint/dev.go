package main

import "github.com/spf13/cobra"

func devCmd(g *globals) *cobra.Command   { return &cobra.Command{Use: "dev", Hidden: true} }
func benchCmd(g *globals) *cobra.Command { return &cobra.Command{Use: "bench", Hidden: true} }
