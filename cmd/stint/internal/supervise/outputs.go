package supervise

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

// pipesAfterEnd is how long output may still come when all of the command is
// dead: of a process that could not be killed, or that another one holds.
const pipesAfterEnd = 2 * time.Second

// outputs are the pipes of a command: what it prints goes to the attempt, then to
// the worker.
type outputs struct {
	stdin          *os.File
	stdout, stderr *os.File
	theirs         []*os.File // the command's ends, in the order of its descriptors

	take    func(stream int, p []byte)
	mu      sync.Mutex // of take
	reading sync.WaitGroup
}

func newOutputs(take func(stream int, p []byte)) (*outputs, error) {
	o := &outputs{take: take, theirs: make([]*os.File, 3)}
	var err [3]error
	o.theirs[0], o.stdin, err[0] = os.Pipe()
	o.stdout, o.theirs[1], err[1] = os.Pipe()
	o.stderr, o.theirs[2], err[2] = os.Pipe()
	for _, err := range err {
		if err != nil {
			return nil, fmt.Errorf("make the command's pipes: %w", err)
		}
	}
	return o, nil
}

// start starts the command at the pipes.
func (o *outputs) start(path string, args []string) (pid int, err error) {
	files := make([]uintptr, len(o.theirs))
	for i, f := range o.theirs {
		files[i] = f.Fd()
	}
	pid, err = syscall.ForkExec(path, args, &syscall.ProcAttr{Env: os.Environ(), Files: files, Sys: session()})
	for _, f := range o.theirs {
		_ = f.Close()
	}
	return pid, err
}

// copy feeds the command, and reads until nobody holds the pipes or end is called.
func (o *outputs) copy(stdin []byte) {
	go func() {
		_, _ = io.Copy(o.stdin, bytes.NewReader(stdin))
		_ = o.stdin.Close()
	}()
	o.reading.Add(2)
	go o.read(1, o.stdout)
	go o.read(2, o.stderr)
}

func (o *outputs) read(stream int, from *os.File) {
	defer o.reading.Done()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			o.mu.Lock()
			o.take(stream, buf[:n])
			o.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

// end reads what is left in the pipes.
func (o *outputs) end() {
	late := time.Now().Add(pipesAfterEnd)
	_ = o.stdin.SetWriteDeadline(late)
	_ = o.stdout.SetReadDeadline(late)
	_ = o.stderr.SetReadDeadline(late)
	o.reading.Wait()
}
