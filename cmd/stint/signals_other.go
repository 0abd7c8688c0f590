//go:build !linux

package main

import "os"

// deadlySignals are those that only Linux has.
func deadlySignals() []os.Signal { return nil }
