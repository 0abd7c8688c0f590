package main

import (
	"os"
	"syscall"
)

// deadlySignals are those that only Linux has, the real-time signals too.
func deadlySignals() []os.Signal {
	all := []os.Signal{syscall.SIGSTKFLT, syscall.SIGPWR}
	for s := syscall.Signal(35); s <= 64; s++ {
		all = append(all, s)
	}
	return all
}
