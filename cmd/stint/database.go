package main

import (
	"errors"
	"fmt"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/store"
)

// openError tells a database that is not to be had from one that is named wrong,
// which alone is the command line's fault: a supervisor does not start that again.
func openError(err error) error {
	if schema.Code(err) == schema.CodeBadURL || errors.Is(err, store.ErrSettings) {
		return usage(err)
	}
	return databaseError(err)
}

// databaseError gives an error of a database its exit code, 75 for what passes by
// itself, and says in words what SQLite says by number.
func databaseError(err error) error {
	if err == nil || errors.As(err, new(*exitError)) {
		return err
	}
	words, passes := store.Trouble(err)
	if words != "" {
		err = fmt.Errorf("%s: %w", words, err)
	}
	switch {
	case passes, words == "" && store.Away(err), schema.Code(err) == schema.CodeStandby, schema.Code(err) == schema.CodeLockLost:
		return &exitError{exitRetryLater, err}
	case words != "":
		return &exitError{exitFailed, err}
	}
	return err
}
