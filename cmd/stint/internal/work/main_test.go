package work

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/cmd/stint/internal/outcome"
	"github.com/stint-run/stint/cmd/stint/internal/supervise"
)

// workerOf names the variable with the server of a worker in a process of its own.
const workerOf = "STINT_TEST_WORKER_OF"

// TestMain lets this very binary be the supervisor of the commands of the tests,
// and a worker that can end while its supervisors go on.
func TestMain(m *testing.M) {
	if code, ok := supervise.Main(outcome.New); ok {
		os.Exit(code)
	}
	if server := os.Getenv(workerOf); server != "" {
		os.Exit(runWorker(server, os.Args[1:]))
	}
	os.Exit(m.Run())
}

func runWorker(server string, command []string) (code int) {
	lastReports = 500 * time.Millisecond
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	c, err := api.New(server, "token", "test", nil)
	if err == nil {
		err = Run(ctx, Config{
			API: c, Server: server, Kinds: []string{"k"}, Concurrency: 1, Grace: 500 * time.Millisecond, Worker: "w",
			Command: command, Stdout: io.Discard, Stderr: io.Discard, Log: slog.New(slog.DiscardHandler),
		})
	}
	if err != nil {
		return 1
	}
	return 0
}
