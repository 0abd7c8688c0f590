package main

import "errors"

// The exit codes of every sub-command.
const (
	exitFailed       = 1
	exitUsage        = 2
	exitNotFound     = 3
	exitConflict     = 4
	exitUnauthorized = 5
	exitRetryLater   = 75
)

// exitError is an error with an exit code of its own.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usage marks an error as the caller's: flags or arguments are wrong.
func usage(err error) error { return &exitError{exitUsage, err} }

// exitCode is the code that err ends the process with.
func exitCode(err error) int {
	var e *exitError
	if errors.As(err, &e) {
		return e.code
	}
	return exitFailed
}
