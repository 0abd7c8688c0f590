package conformance

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/stint-run/stint/server/bounded"
)

// Instructions are the payload of each job: what the work on it is. A worker that
// runs no commands does the same in its own way.
type Instructions struct {
	// Watch is an address to connect to by TCP before anything else. Send Hello as
	// one line, keep the connection open as long as the work goes on, and send the
	// line "done" at its end, but not when it is ended by others.
	Watch string `json:"watch"`
	Work  string `json:"work"` // the name of this work, for Hello

	Stderr  Text    `json:"stderr"`  // printed first
	Stdout  Text    `json:"stdout"`  // printed next; the result, if it is JSON
	Seconds float64 `json:"seconds"` // how long the work goes on after that
	Exit    int     `json:"exit"`    // the exit code; 0 is success
	Signal  int     `json:"signal"`  // if not 0, the signal that the work ends itself with

	IgnoreTerm bool `json:"ignore_sigterm"`
	Child      bool `json:"child"` // start a second process, which works as long
}

// Text is bytes to print, Repeat times. Base64 is for what is not text.
type Text struct {
	Text   string `json:"text"`
	Base64 string `json:"base64"`
	Repeat int    `json:"repeat"` // 0: once
}

// Hello is what the work sends over the connection to Watch.
type Hello struct {
	Work  string `json:"work"`
	PID   int    `json:"pid"` // of a process to kill when all is over; 0: there is none
	Child bool   `json:"child"`
}

// Bytes is what to print.
func (t Text) Bytes() ([]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(t.Base64)
	if err != nil {
		return nil, err
	}
	return []byte(strings.Repeat(t.Text+string(raw), max(t.Repeat, 1))), nil
}

// Do is the program behind {command}: it reads a job, or a job's payload, from
// standard input, does what it says, and is over by os.Exit.
func Do(stdin io.Reader) {
	// The process that this runs in may catch signals for another purpose.
	signal.Reset()
	in, err := read(stdin)
	if err == nil {
		err = in.do()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(125)
	}
	if in.Signal != 0 {
		// A signal that Go catches ends no process of its own.
		signal.Reset(syscall.Signal(in.Signal))
		_ = syscall.Kill(os.Getpid(), syscall.Signal(in.Signal))
		select {}
	}
	os.Exit(in.Exit)
}

// read takes the whole job as one line, as stint work hands it over, or the
// payload alone, as the example workers do.
func read(stdin io.Reader) (in Instructions, err error) {
	text, err := bounded.All(stdin, maxBody)
	if err != nil {
		return in, err
	}
	var job struct{ Payload json.RawMessage }
	if json.Unmarshal(text, &job) == nil && job.Payload != nil {
		text = job.Payload
	}
	if err = json.Unmarshal(text, &in); err == nil && in.Watch == "" {
		err = errors.New("standard input is neither a job of stint conformance nor its payload")
	}
	return in, err
}

func (in Instructions) do() error {
	if in.IgnoreTerm {
		signal.Ignore(syscall.SIGTERM)
	}
	conn, err := net.Dial("tcp", in.Watch)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := json.NewEncoder(conn).Encode(Hello{in.Work, os.Getpid(), os.Getenv(childEnv) != ""}); err != nil {
		return err
	}
	if in.Child && os.Getenv(childEnv) == "" {
		if err := in.startChild(); err != nil {
			return err
		}
	}
	if err := in.print(); err != nil {
		return err
	}
	time.Sleep(time.Duration(in.Seconds * float64(time.Second)))
	_, err = io.WriteString(conn, "done\n")
	return err
}

const childEnv = "STINT_CONFORMANCE_CHILD"

// startChild starts the second process; it prints nothing.
func (in Instructions) startChild() error {
	in.Stdout, in.Stderr = Text{}, Text{}
	payload, err := json.Marshal(in)
	if err != nil {
		return err
	}
	child := exec.Command(os.Args[0], os.Args[1:]...)
	child.Env = append(os.Environ(), childEnv+"=1")
	child.Stdin = strings.NewReader(string(payload))
	return child.Start()
}

func (in Instructions) print() error {
	for _, one := range []struct {
		to   io.Writer
		text Text
	}{{os.Stderr, in.Stderr}, {os.Stdout, in.Stdout}} {
		b, err := one.text.Bytes()
		if err != nil {
			return err
		}
		if _, err := one.to.Write(b); err != nil {
			return err
		}
	}
	return nil
}
