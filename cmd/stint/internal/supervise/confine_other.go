//go:build !linux

package supervise

import "syscall"

func confine() error { return nil }

func title(string) {}

func traced() bool { return false }

// session is how a command is started: without a terminal.
func session() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
