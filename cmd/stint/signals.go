package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// signalsApart is how long after the first signal another one is the second.
const signalsApart = time.Second

// newStops is the channel of the signals that ask a command to stop. A command
// may add to them, as stopOnEverySignal does.
func newStops() chan os.Signal {
	stops := make(chan os.Signal, 1)
	signal.Notify(stops, os.Interrupt, syscall.SIGTERM)
	return stops
}

// untilStopped is a context that the first signal ends. A second one ends the
// process at once, unless it comes together with the first: wrappers pass a
// signal on that the group has got as well.
func untilStopped(stops <-chan os.Signal) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-stops
		cancel()
		time.Sleep(signalsApart)
		select {
		case <-stops:
		default:
		}
		endBy((<-stops).(syscall.Signal))
	}()
	return ctx
}

// endBy ends the process as the signal does by default, or with the exit code that
// shells give to that: the kernel spares the first process of a container, the
// runtime takes no notice of most signals, and some were ignored from the start.
func endBy(s syscall.Signal) {
	if os.Getpid() != 1 {
		signal.Reset(s)
		_ = syscall.Kill(os.Getpid(), s)
		time.Sleep(100 * time.Millisecond)
	}
	os.Exit(128 + int(s))
}

// stopOnEverySignal is for workers, whose jobs would stay claimed: each signal
// that by default ends a process asks to stop, whoever sends it and whatever a
// service manager or a limit of the system uses. Faults of the program itself
// still end it. A terminal cannot stop a worker, for its leases would run out:
// a caught SIGTTOU would come again with each line of output, so it is ignored.
//
// Not among them are SIGPIPE and SIGXFSZ, which are errors of a write; SIGPROF,
// which the runtime keeps to itself; and on Linux the signals 32 to 34, which it
// leaves to the C library: they end the process.
func stopOnEverySignal(stops chan<- os.Signal) {
	signal.Ignore(syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU)
	signal.Notify(stops, append(deadlySignals(),
		syscall.SIGQUIT, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE,
		syscall.SIGUSR1, syscall.SIGSEGV, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGXCPU,
		syscall.SIGVTALRM, syscall.SIGIO, syscall.SIGSYS)...)
	if !signal.Ignored(syscall.SIGHUP) { // else nohup keeps it at work
		signal.Notify(stops, syscall.SIGHUP)
	}
}
