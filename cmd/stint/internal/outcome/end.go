package outcome

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"github.com/stint-run/stint/cmd/stint/internal/result"
	"github.com/stint-run/stint/cmd/stint/internal/supervise"
)

// outputs is what a command has printed.
type outputs struct {
	result  json.RawMessage
	warning string // about the result
	message string // the end of an output
}

// WithoutSupervisor is what the worker makes of an attempt whose supervisor died,
// and the outputs with it.
func WithoutSupervisor(h Handover, end supervise.End) Finish {
	return h.finish(end, outputs{
		warning: "the supervisor of the command died, and the output with it; the result is null",
	})
}

// finish is how an attempt ends whose command ended so.
func (h Handover) finish(end supervise.End, said outputs) Finish {
	var notes []string
	declared, err := h.Files.declared()
	if err != nil {
		notes = append(notes, fmt.Sprintf("STINT_OUTCOME %v; the exit code counts instead", err))
	}
	failed := failure(end, said.message)
	f := h.Exits.finish(end, failed)
	if declared != nil && err == nil {
		f = declared.finish(failed)
		notes = append(notes, f.Warning)
	}
	if f.Action == Complete {
		var warning string
		f.Result, warning = h.Files.result(said)
		notes = append(notes, warning)
	}
	if len(end.Left) > 0 {
		notes = append(notes, "still running, since they could not be killed: "+strings.Join(end.Left, ", "))
	}
	f.Warning = join(notes...)
	return f
}

// failure is the end of the command as an error.
func failure(end supervise.End, message string) Finish {
	code, status := exitOf(end)
	switch {
	case message != "":
	case end.Alone:
		message = "the command " + status + "; its supervisor died, and what it printed is only in the run's log"
	default:
		message = "the command " + status + " and printed nothing"
	}
	return Failed(code, message)
}

// finish is what the exit code says, or the failure.
func (e Exits) finish(end supervise.End, failed Finish) Finish {
	if !end.Known || !end.Status.Exited() {
		return failed
	}
	exit := end.Status.ExitStatus()
	seconds, snooze := e.Snooze[exit]
	switch {
	case exit == 0:
		return Finish{Action: Complete}
	case snooze:
		return Finish{Action: Snooze, Seconds: &seconds}
	}
	failed.Final = e.Final[exit]
	return failed
}

// exitOf names how a command ended: as an error's code, and for people.
func exitOf(end supervise.End) (code, status string) {
	switch s := end.Status; {
	case !end.Known && end.Alone:
		return "supervisor_lost", "ended in a way that nobody knows"
	case !end.Known:
		return "not_killed", "could not be killed"
	case s.Signaled():
		return "signal_" + signalName(s.Signal()), "ended with signal: " + s.Signal().String()
	case s.ExitStatus() == 0: // only STINT_OUTCOME calls that a failure
		return "failed", "told its failure by STINT_OUTCOME"
	default:
		n := strconv.Itoa(s.ExitStatus())
		return "exit_" + n, "ended with exit status " + n
	}
}

// result is what the command wrote to STINT_RESULT if anything, else what it printed.
func (f Files) result(said outputs) (text json.RawMessage, warning string) {
	text, err := f.read(resultFile, 2*result.Max)
	if err == nil && len(text) == 0 {
		return said.result, said.warning
	}
	text = trim(text)
	if err == nil {
		err = result.Check(text)
	}
	if err != nil {
		return nil, fmt.Sprintf("STINT_RESULT %v; the result is null", err)
	}
	return text, ""
}

// trim takes a byte order mark and white space from around a JSON text.
func trim(text []byte) []byte {
	return []byte(strings.Trim(strings.TrimPrefix(string(text), "\ufeff"), " \t\r\n"))
}

// join makes one warning of several.
func join(notes ...string) string {
	var said []string
	for _, note := range notes {
		if note != "" {
			said = append(said, note)
		}
	}
	return clean(strings.Join(said, "; "))
}

var signalNames = map[syscall.Signal]string{
	syscall.SIGHUP: "hup", syscall.SIGINT: "int", syscall.SIGQUIT: "quit", syscall.SIGILL: "ill",
	syscall.SIGTRAP: "trap", syscall.SIGABRT: "abrt", syscall.SIGBUS: "bus", syscall.SIGFPE: "fpe",
	syscall.SIGKILL: "kill", syscall.SIGUSR1: "usr1", syscall.SIGSEGV: "segv", syscall.SIGUSR2: "usr2",
	syscall.SIGPIPE: "pipe", syscall.SIGALRM: "alrm", syscall.SIGTERM: "term",
	syscall.SIGXCPU: "xcpu", syscall.SIGXFSZ: "xfsz", syscall.SIGSYS: "sys",
}

func signalName(s syscall.Signal) string {
	if name, ok := signalNames[s]; ok {
		return name
	}
	return strconv.Itoa(int(s))
}
