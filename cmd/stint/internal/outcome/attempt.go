package outcome

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/result"
	"github.com/stint-run/stint/cmd/stint/internal/supervise"
)

// CertainlyGone is how long after its end a lease is taken back for certain, by some
// replica.
const CertainlyGone = time.Minute

// Attempt is the supervisor's side of a job's attempt: a supervise.Attempt. What it
// keeps of the outputs is bounded, whatever the command prints.
type Attempt struct {
	h        Handover
	end      supervise.End
	finish   Finish
	result   result.Scanner
	out, err tail
}

// New makes the attempt from an encoded Handover, and its files.
func New(handover []byte) (supervise.Attempt, error) {
	a := &Attempt{}
	if err := json.Unmarshal(handover, &a.h); err != nil {
		return nil, fmt.Errorf("read the handover: %w", err)
	}
	return a, a.h.Files.make()
}

// Output takes what the command prints.
func (a *Attempt) Output(stream int, p []byte) {
	if stream != 1 {
		a.err.write(p)
		return
	}
	_, _ = a.result.Write(p)
	a.out.write(p)
}

// Ended makes the report of a command that has ended: an encoded Finish.
func (a *Attempt) Ended(end supervise.End) []byte {
	a.end = end
	text, warning := a.result.End()
	said := outputs{result: text, warning: warning, message: a.err.text()}
	if said.message == "" {
		said.message = a.out.text()
	}
	a.finish = a.h.finish(end, said)
	return a.finish.encode()
}

// Alone reports without the worker, until the server has answered or the lease is
// gone, and removes the attempt's files.
func (a *Attempt) Alone(ctx context.Context, report []byte) {
	defer a.h.Files.Remove()
	if !a.reportable(report != nil) {
		return
	}
	sender, err := a.h.sender()
	if err != nil {
		return // nobody is left who could be told
	}
	ctx, cancel := context.WithTimeout(ctx, a.h.Lease+CertainlyGone)
	defer cancel()
	_, _ = sender.Send(ctx, a.finish)
}

// reportable tells whether the end is to be reported without the worker. An outcome
// that the command wrote is, however it ended: also if it was killed because the
// worker died, when report is false. A failure that the worker wanted, or that came
// with the end of the lease, is not: only the worker knew what to make of it.
func (a *Attempt) reportable(report bool) bool {
	forced := a.end.Asked || a.end.Expired
	return a.finish.Declared || report && (!forced || a.finish.Stands())
}
