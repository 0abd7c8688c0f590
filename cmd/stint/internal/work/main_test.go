package work

import (
	"os"
	"testing"

	"github.com/stint-run/stint/cmd/stint/internal/outcome"
	"github.com/stint-run/stint/cmd/stint/internal/supervise"
)

// TestMain lets this very binary be the supervisor of the commands of the tests.
func TestMain(m *testing.M) {
	if code, ok := supervise.Main(outcome.New); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}
