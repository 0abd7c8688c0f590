//go:build linux

package e2e

import (
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/stint-run/stint/server/apitest"
)

// working is a `stint work` whose outputs can be taken away.
type working struct {
	procID
	cmd   *exec.Cmd
	outs  [2]*reader  // standard output and error
	told  atomic.Bool // a signal has told it to end, or killed it
	ended chan struct{}
	over  time.Time // after ended
}

// reader reads an output until it is told to stop, or to go away.
type reader struct {
	from *os.File
	log  apitest.Log
	mu   sync.Mutex // held while it reads nothing
}

// startWorking starts a worker with an environment of its own.
func startWorking(dir string, env []string, args ...string) (*working, error) {
	path, err := binary()
	if err != nil {
		return nil, err
	}
	w := &working{cmd: exec.Command(path, args...), ended: make(chan struct{})}
	w.cmd.Dir, w.cmd.Env = dir, env
	var theirs [2]*os.File
	for i := range w.outs {
		w.outs[i] = &reader{}
		if w.outs[i].from, theirs[i], err = os.Pipe(); err != nil {
			return nil, err
		}
		defer theirs[i].Close()
		go w.outs[i].read()
	}
	w.cmd.Stdout, w.cmd.Stderr = theirs[0], theirs[1]
	if err := w.cmd.Start(); err != nil {
		return nil, err
	}
	p, _ := lookAt(w.cmd.Process.Pid)
	w.procID = p.procID
	go func() {
		_ = w.cmd.Wait()
		w.over = time.Now()
		close(w.ended)
	}()
	return w, nil
}

func (r *reader) read() {
	buf := make([]byte, 32<<10)
	for {
		r.mu.Lock()
		n, err := r.from.Read(buf)
		r.mu.Unlock()
		_, _ = r.log.Write(buf[:n])
		if err != nil {
			return
		}
	}
}

// stop has the reader read nothing for some time, once it has read what comes next.
func (r *reader) stop(lasts <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	<-lasts
}

func (w *working) hasEnded() bool {
	select {
	case <-w.ended:
		return true
	default:
		return false
	}
}

// end has a worker end as it should, and tells whether it did within so long. A
// second signal would kill it.
func (w *working) end(within time.Duration) bool {
	if !w.told.Swap(true) {
		_ = w.cmd.Process.Signal(syscall.SIGTERM)
	}
	select {
	case <-w.ended:
		return true
	case <-time.After(within):
		return false
	}
}

// log is all that was read of the worker's own log.
func (w *working) log() string { return w.outs[1].log.String() }
