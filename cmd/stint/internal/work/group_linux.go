package work

import "syscall"

// ownGroup starts a command in a process group of its own, and has the kernel
// kill it if the worker dies: nobody would renew its lease.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
