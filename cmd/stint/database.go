package main

import (
	"errors"
	"fmt"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/store"
)

// databaseError gives an error of a database its exit code, 75 for what passes by
// itself, and says in words what SQLite says by number.
func databaseError(err error) error {
	if err == nil || errors.As(err, new(*exitError)) {
		return err
	}
	if store.NoDatabase(err) {
		return &exitError{exitFailed, errors.New(store.Answer(err) + ": stint migrate up makes it")}
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
