// Package supervise runs commands so that nothing of them lives longer than it may,
// whatever becomes of the process that wanted them.
//
//	worker (Supervisors) ─ supervisor (Main) ─ command ─ whatever that starts
//
// The supervisor is a small process of the worker's own image, one for each
// command. It holds the command's outputs and its time limit. Worker and supervisor
// are both sub-reapers: a process whose parent has ended becomes the
// child of the nearest of them, so none can leave the tree by a double fork or a
// session of its own. When one of the two dies the other knows at once, because the
// socket between them ends, and kills the whole tree; when one is frozen the other
// does not wait for it. The exit status of a command stays with the kernel until
// the worker has it, so either may die after the command has ended.
//
// Both killed or frozen at the same moment is not covered; nor is what a command
// has another service start for it (sudo, docker, at, systemd-run): only a control
// group or a container holds those.
//
// Elsewhere than on Linux there is no adoption of orphans and no list of a tree's
// processes: only the command's own process group is killed, and a supervisor that
// dies takes the exit status with it.
package supervise

import (
	"context"
	"errors"
	"syscall"

	"github.com/stint-run/stint/cmd/stint/internal/boottime"
)

// Job is a command to run.
type Job struct {
	Name      string   // shown by ps behind the supervisor's name; no secret
	Path      string   // the program; a path with a slash
	Args, Env []string // Args[0] is the program's name
	Stdin     []byte   // all of the command's standard input

	// Until is when all of the command is killed, unless it is extended: the
	// supervisor sees to it, whatever becomes of the worker.
	Until boottime.Instant
	// Handover is what the supervisor's Attempt is made from. It reaches the
	// supervisor through a socket, when nobody without privileges can read its
	// memory any more.
	Handover []byte
}

// End is how a command ended.
type End struct {
	Status  syscall.WaitStatus // of the command's own process
	Known   bool               // Status is known
	Asked   bool               // Terminate or Kill came before the end was seen
	Expired bool               // Until had passed before the end was seen
	Alone   bool               // the supervisor died: its report is lost, and outputs may be
	Crash   string             // the beginning of what it printed then, if that was a fault of its own
	Left    []string           // processes that could not be killed, as "pid 77 (sudo)"
	Dropped int64              // bytes of output that the worker did not take in time
	Report  []byte             // made by Attempt.Ended; nil if the supervisor died
}

// Attempt is what a supervisor's process knows of the work beyond the command. Its
// methods are called one at a time, but for Alone's context.
type Attempt interface {
	// Output is called with all that the command prints on stream 1 or 2, as it
	// comes; p is not the callee's to keep.
	Output(stream int, p []byte)
	// Ended makes the report, which the worker finds in End.Report.
	Ended(End) []byte
	// Alone is called when the worker is dead, or silent for so long after the
	// command's end that its report may come too late. report is what Ended has
	// made, or nil if there is none to make: the command was killed because the
	// worker died. The context ends if the worker comes back and is done.
	Alone(ctx context.Context, report []byte)
}

// ErrCommand is the cause of a Start that fails because the command itself cannot
// be executed, now or later: not found, no permission, no program.
var ErrCommand = errors.New("the command cannot be executed")

// argv0 is the first argument of a supervisor's process.
const argv0 = "stint-supervisor"
