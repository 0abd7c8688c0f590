package fault_test

import (
	"errors"
	"regexp"
	"testing"
	"time"

	"github.com/stint-run/stint/server/fault"
)

func TestEveryCodeIsListedOnceAndExplained(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	seen := map[string]bool{}
	for _, c := range fault.Codes {
		if seen[c.Code] || !form.MatchString(c.Code) {
			t.Errorf("code %q is listed twice or is not snake_case", c.Code)
		}
		seen[c.Code] = true
		if c.Status < 400 || c.Status > 599 || c.Title == "" || c.Means == "" || c.Do == "" {
			t.Errorf("code %q is not explained", c.Code)
		}
	}
}

func TestOnlyOutcomesOfRowsAreStorable(t *testing.T) {
	t.Parallel()
	tests := []struct {
		f    *fault.Fault
		want bool
	}{
		{fault.NotFound(), true},
		{fault.LeaseLost("job_1", "pending"), true},
		{fault.StateConflict("job_1", "failed"), true},
		{fault.KeyInUse("job_1", "pending"), true},
		{fault.PreconditionFailed(), true},
		{fault.IdempotencyInFlight(), false},
		{fault.Invalid(), false},
		{fault.BadRequest(), false},
		{fault.PreconditionRequired(), false},
		{fault.Unavailable("away"), false},
		{fault.Internal(nil), false},
	}
	for _, tt := range tests {
		if got := tt.f.Storable(); got != tt.want {
			t.Errorf("%s: storable = %v, want %v", tt.f.Code, got, tt.want)
		}
	}
}

func TestCauseIsKeptForTheLogOnly(t *testing.T) {
	t.Parallel()
	cause := errors.New("SQLSTATE 42P01")
	f := fault.Internal(cause)
	if !errors.Is(f, cause) {
		t.Fatal("the cause is lost")
	}
	if f.Detail == "" || regexp.MustCompile("SQLSTATE").MatchString(f.Detail+f.Title()) {
		t.Fatalf("the cause is in what a client sees: %q", f.Detail)
	}
}

func TestUnlistedCodePanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Fatal("an unlisted code was taken")
		}
	}()
	fault.New("made_up", "")
}

func TestAfterMakesRetryable(t *testing.T) {
	t.Parallel()
	f := fault.Internal(nil).After(1500 * time.Millisecond)
	if !f.Retryable || f.RetryAfter != 1500*time.Millisecond {
		t.Fatalf("retry hint is lost: %+v", f)
	}
}
