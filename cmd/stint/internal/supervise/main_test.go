package supervise

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/boottime"
)

// TestMain makes this binary what it tests: a supervisor, or with STINT_TEST_WORKER
// a worker with one command.
func TestMain(m *testing.M) {
	if code, ok := Main(newRecorder); ok {
		os.Exit(code)
	}
	if job := os.Getenv("STINT_TEST_WORKER"); job != "" {
		os.Exit(workOn(job))
	}
	os.Exit(m.Run())
}

// recorder is an Attempt that writes what it is told to a file.
type recorder struct {
	File   string // a line for each call but Output
	Jump   string // when this file is there the supervisor's clock is an hour later
	seen   int64
	report []byte
}

func newRecorder(handover []byte) (Attempt, error) {
	r := &recorder{}
	if len(handover) == 0 {
		return r, nil
	}
	if err := json.Unmarshal(handover, r); err != nil {
		return nil, err
	}
	if r.Jump != "" {
		now = func() boottime.Instant {
			if _, err := os.Stat(r.Jump); err == nil {
				return boottime.Now().Add(time.Hour)
			}
			return boottime.Now()
		}
	}
	return r, nil
}

func (r *recorder) Output(stream int, p []byte) {
	r.seen += int64(len(p))
	r.report = append(r.report, p[:min(len(p), max(0, 100-len(r.report)))]...)
}

func (r *recorder) Ended(e End) []byte {
	report := fmt.Sprintf("status %d expired %t asked %t seen %d: %s", e.Status, e.Expired, e.Asked, r.seen, r.report)
	r.note("ended " + report)
	return []byte(report)
}

func (r *recorder) Alone(_ context.Context, report []byte) { r.note("alone " + string(report)) }

func (r *recorder) note(line string) {
	if r.File == "" {
		return
	}
	f, err := os.OpenFile(r.File, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintln(f, line)
}
