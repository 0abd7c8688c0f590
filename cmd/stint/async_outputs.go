package main

import (
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/output"
)

// lastFlush is how long a process that ends waits for who reads its outputs.
const lastFlush = time.Second

// asyncOutputs are the outputs of a command that must go on when they are
// closed, full or not read; nil for a command that ends by itself.
type asyncOutputs struct{ stdout, stderr *output.Writer }

// useAsyncOutputs has the command write by them. Go ends a process by SIGPIPE that
// writes to a closed standard output or error, and on some systems by SIGXFSZ if
// the file may not grow, unless it is notified of these signals. It does not
// ignore them: what the process starts would ignore them too.
func (g *globals) useAsyncOutputs(root *cobra.Command) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGXFSZ)
	stdout := output.New(os.Stdout)
	stderr := stdout
	if !sameFile(os.Stdout, os.Stderr) { // else the order of their lines is kept
		stderr = output.New(os.Stderr)
	}
	g.outputs = asyncOutputs{stdout, stderr}
	root.SetOut(stdout)
	root.SetErr(stderr)
	log.SetOutput(stderr) // of packages that know no other logger
}

func sameFile(a, b *os.File) bool {
	infoA, errA := a.Stat()
	infoB, errB := b.Stat()
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

func (o asyncOutputs) flush() {
	if o.stdout == nil {
		return
	}
	end := time.Now().Add(lastFlush)
	o.stdout.Flush(time.Until(end))
	o.stderr.Flush(time.Until(end))
}
