package main

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stint-run/stint/server/fault"
)

// What a command meets on a database itself ends it as the same refusal of a server does.
func TestFaultsEndACommandByTheirKind(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want int
	}{
		{fault.Unavailable("away"), exitRetryLater},
		{fault.Draining(), exitRetryLater},
		{fault.NotFound(), exitNotFound},
		{fault.KeyInUse("job_1", "pending"), exitConflict},
		{fault.PreconditionFailed(), exitConflict},
		{fault.PreconditionRequired(), exitConflict},
		{fault.Unauthorized(), exitUnauthorized},
		{fault.Forbidden("admin"), exitUnauthorized},
		{fault.Invalid(), exitUsage},
		{fault.TooLarge(1), exitUsage},
		{fault.Internal(errors.New("x")), exitFailed},
		{context.Canceled, exitInterrupted},
		{usagef("no"), exitUsage},
		{errors.New("other"), exitFailed},
	} {
		if got := exitCode(fmt.Errorf("make a token: %w", tt.err)); got != tt.want {
			t.Errorf("%v: exit code %d, want %d", tt.err, got, tt.want)
		}
	}
}
