// runtests runs go test, says meanwhile which tests are running, and ends with
// the lines that run the failed ones again. Everything else is as go test has it:
// its flags, its closing lines, its exit code.
//
//	runtests TARGET go test [FLAG…] [PACKAGE…]
//
// TARGET is the target of make and its variable of packages, as in "make test pkg".
//
// gotestsum would not do: it takes -json for itself, does not say which tests are
// running, and cannot print the line for make.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"
)

// every is how often it says which tests are running.
const every = 15 * time.Second

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: runtests 'make test pkg' go test [FLAG…] [PACKAGE…]")
		os.Exit(2)
	}
	target, args := os.Args[1], os.Args[2:]
	r := newReport(os.Stdout, os.Stderr)
	r.raw = flagged(args, "json")
	r.whole = flagged(args, "v") || flagged(args, "bench")
	r.tags = typedTags(args)
	if info, ok := debug.ReadBuildInfo(); ok {
		r.module = info.Main.Path
	}
	code, err := run(slices.Insert(args, 2, "-json"), r)
	if err != nil {
		fmt.Fprintln(os.Stderr, "runtests:", err)
	}
	r.close(target, code)
	os.Exit(code)
}

// flagged reports whether a flag of go test is set, in any of its spellings.
func flagged(args []string, name string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		text, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimLeft(arg, "-"), "test."), "=")
		return strings.HasPrefix(arg, "-") && text == name && value != "false"
	})
}

// typedTags are the build tags that stand behind the packages: those before them
// are the target's own.
func typedTags(args []string) (tags string) {
	behind := false
	for i, arg := range args {
		if behind = behind || strings.HasPrefix(arg, "."); !behind || !strings.HasPrefix(arg, "-") {
			continue
		}
		name, value, is := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if name == "tags" && !is && i+1 < len(args) {
			value = args[i+1]
		}
		if name == "tags" {
			tags = value
		}
	}
	return tags
}

// run runs a command to its end, and hands its events to the report.
func run(args []string, r *report) (code int, err error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	lines := make(chan []byte)
	go read(events, lines)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for open := true; open; {
		select {
		case line, more := <-lines:
			if open = more; open {
				r.line(line)
			}
		case now := <-tick.C:
			r.progress(now)
		case s := <-signals:
			_ = cmd.Process.Signal(s) // it may have ended
		}
	}
	if err := cmd.Wait(); cmd.ProcessState == nil {
		return 1, err
	}
	if code = cmd.ProcessState.ExitCode(); code < 0 {
		return 1, fmt.Errorf("%s: %s", strings.Join(args[:2], " "), cmd.ProcessState)
	}
	return code, nil
}

// read sends the lines of a stream, however long, and closes the channel.
func read(from io.Reader, lines chan<- []byte) {
	defer close(lines)
	in := bufio.NewReader(from)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			lines <- line
		}
		if err != nil {
			return
		}
	}
}
