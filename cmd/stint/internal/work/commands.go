package work

import (
	"sync"
	"syscall"
)

// Commands are the commands that run.
type Commands struct {
	mu      sync.Mutex
	running map[*process]struct{}
}

// Kill kills every command with all that it started, for a worker that ends at
// once. The lock is kept for good: no command starts any more, and the end of
// none is reported, as if the job had failed.
func (c *Commands) Kill() {
	c.mu.Lock()
	for p := range c.running {
		p.signal(syscall.SIGKILL)
	}
}

func (c *Commands) start(p *process) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := p.cmd.Start()
	if err != nil {
		return err
	}
	if c.running == nil {
		c.running = map[*process]struct{}{}
	}
	c.running[p] = struct{}{}
	return nil
}

func (c *Commands) remove(p *process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, p)
}
