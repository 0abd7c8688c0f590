package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

// The exit codes of every sub-command.
const (
	exitFailed       = 1
	exitUsage        = 2
	exitNotFound     = 3
	exitConflict     = 4
	exitUnauthorized = 5
	exitRetryLater   = 75
	exitInterrupted  = 130
)

// exitError is an error with an exit code of its own.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usage marks an error as the caller's: flags or arguments are wrong.
func usage(err error) error {
	if errors.As(err, new(*exitError)) {
		return err
	}
	return &exitError{exitUsage, err}
}

func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// exitCode is the code that err ends the process with.
func exitCode(err error) int {
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	if errors.Is(err, context.Canceled) {
		return exitInterrupted
	}
	// Of a database its name alone, or a setting, is the command line's fault: a
	// supervisor does not start that again.
	if schema.Code(err) == schema.CodeBadURL || errors.Is(err, store.ErrSettings) {
		return exitUsage
	}
	if api.Untrusted(err) {
		return exitFailed
	}
	if api.Retry(err) {
		return exitRetryLater
	}
	if status := api.Status(err); status != 0 {
		return exitOf(status)
	}
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return exitOf(f.Status)
	}
	return exitFailed
}

// exitOf is the exit code for a refusal of the server.
func exitOf(status int) int {
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return exitUsage
	case http.StatusNotFound:
		return exitNotFound
	case http.StatusConflict, http.StatusPreconditionFailed, http.StatusPreconditionRequired:
		return exitConflict
	case http.StatusUnauthorized, http.StatusForbidden:
		return exitUnauthorized
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return exitRetryLater
	}
	return exitFailed
}
