//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// ignoreFileSizeSignal makes a write over the limit of the file size an error,
// like that of a full disk; the signal would end the process with a stack trace.
func ignoreFileSizeSignal() { signal.Ignore(syscall.SIGXFSZ) }
