package jobs

import (
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/runs"
)

// shorter is the smaller of two time limits in seconds; nil is none.
func shorter(a, b *int64) *int64 {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}

// deadline is when an attempt that begins now must be over, zero without a limit.
func deadline(now coltype.Time, timeout *int64) coltype.Time {
	if timeout == nil {
		return coltype.Time{}
	}
	return now.Add(seconds(*timeout))
}

// timedOut is a lease that ended because the time limit of the attempt had
// passed: a failure that is tried again after wait while attempts are left.
func timedOut(job model.Job, now coltype.Time, wait time.Duration) ending {
	failure := coltype.JSON(`{"code":"timeout","message":"The time limit passed, and the worker had not reported the end of its work."}`)
	end := ending{
		state: Failed, attempt: counted, jobError: failure,
		runStatus: runs.Failed, reason: runs.ReasonTimeout, runError: failure,
	}
	if job.Attempt < job.MaxAttempts {
		end.state, end.runAt = Pending, now.Add(wait)
	}
	return end
}
