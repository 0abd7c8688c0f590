//go:build !linux

package supervise

import (
	"os"
	"os/exec"
	"strconv"
)

// startHidden starts a supervisor; here its memory is not hidden.
func (*registry) startHidden(prepare prepared) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := prepare(program)
	return cmd, cmd.Start()
}

// process is a command; orphans belong to process 1 here.
type process int

func (p process) String() string { return "pid " + strconv.Itoa(int(p)) }

func (p process) key() string { return p.String() }

func (*registry) sweep() []process { return nil }

func (*registry) reapEnded() {}

// activity cannot be told here.
type activity struct{ pid int }

func (*activity) none() bool { return true }
