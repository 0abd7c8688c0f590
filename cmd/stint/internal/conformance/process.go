package conformance

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// endTime is what a worker has to end by itself when its script is over.
	endTime = 2 * time.Second
	// maxOutput is how much of a worker's output is kept: its end.
	maxOutput = 16 << 10
)

// process is the worker.
type process struct {
	cmd   *exec.Cmd
	out   *output
	ended chan struct{}
}

// output keeps the end of what was printed.
type output struct {
	mu   sync.Mutex
	text []byte
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, p...)
	if len(o.text) > maxOutput {
		o.text = slices.Clone(o.text[len(o.text)-maxOutput:])
	}
	return len(p), nil
}

// lines are what was printed, without what a terminal would act on.
func (o *output) lines() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	text := strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' || r == 0x7f {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(string(o.text), "?"))
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
}

// start starts the worker in a process group of its own.
func (c Config) start(server, token string) (*process, error) {
	args := make([]string, len(c.Worker))
	for i, arg := range c.Worker {
		args[i] = strings.NewReplacer("{kind}", kind, "{command}", c.Command).Replace(arg)
	}
	p := &process{cmd: exec.Command(args[0], args[1:]...), out: &output{}, ended: make(chan struct{})}
	p.cmd.Env = c.environment(os.Environ(), server, token)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.WaitDelay = time.Second // for what others that it has started still print
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the worker: %w", err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// environment is ours without the settings of another server, and without a
// proxy between the worker and the scripted server.
func (c Config) environment(own []string, server, token string) []string {
	env := slices.DeleteFunc(slices.Clone(own), func(pair string) bool {
		return strings.HasPrefix(pair, "STINT_") || strings.HasPrefix(pair, "DATABASE_URL=")
	})
	return append(env, "STINT_SERVER="+server, "STINT_TOKEN="+token, "TMPDIR="+c.Temp, "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
}

func (p *process) state() string {
	if p.cmd.ProcessState == nil {
		return "unknown"
	}
	return p.cmd.ProcessState.String()
}

// term asks the worker to end, as an operator does.
func (p *process) term() { _ = p.cmd.Process.Signal(syscall.SIGTERM) }

// kill ends the worker with all that it has started and that is still below it.
func (p *process) kill() {
	select {
	case <-p.ended:
	default:
		// While it is stopped it starts no more.
		_ = p.cmd.Process.Signal(syscall.SIGSTOP)
		killBelow(p.cmd.Process.Pid)
	}
	if err := syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		_ = p.cmd.Process.Kill()
	}
	<-p.ended
}

// killOne kills a process by its id.
func killOne(pid int) {
	if pid > 1 {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
