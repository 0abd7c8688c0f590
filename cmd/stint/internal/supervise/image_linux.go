package supervise

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// image is the program that runs, also when its file was replaced or removed.
const image = "/proc/self/exe"

// unreadable is a copy of the program in memory that even its owner may only
// execute: the kernel keeps a process of it from being dumped before its first
// instruction. Of the file itself a supervisor could be opened while it starts, by
// any command of the same user, and its credentials read later. Where the system
// wants no such file those milliseconds are open.
var unreadable = sync.OnceValues(func() (*os.File, error) { return makeCopy() })

// makeCopy is copyImage; tests have it fail.
var makeCopy = copyImage

func copyImage() (*os.File, error) {
	program, err := os.Open(image)
	if err != nil {
		return nil, err
	}
	defer program.Close()
	fd, err := unix.MemfdCreate(argv0, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_EXEC)
	if err == unix.EINVAL { // a kernel that knows no other than executable ones
		fd, err = unix.MemfdCreate(argv0, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return nil, fmt.Errorf("make a file in memory: %w", err)
	}
	file := os.NewFile(uintptr(fd), argv0)
	if _, err = io.Copy(file, program); err == nil {
		err = file.Chmod(0o111)
	}
	if err == nil {
		const seals = unix.F_SEAL_WRITE | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
		_, err = unix.FcntlInt(file.Fd(), unix.F_ADD_SEALS, seals)
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("copy the program to memory: %w", err)
	}
	return file, nil
}

// startHidden starts a supervisor so that it cannot be dumped; prepare makes it of a
// program and a file beside its socket. A system that does not let files of memory
// be executed gets it from the program itself. It must be called under the lock.
func (r *registry) startHidden(prepare prepared) (*exec.Cmd, error) {
	if r.exposed == nil {
		cmd, err := startCopy(prepare)
		if err == nil || cmd != nil && !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.EPERM) {
			return cmd, err
		}
		r.exposed = err
	}
	cmd := prepare(image)
	return cmd, cmd.Start()
}

// startCopy starts a supervisor from the copy; cmd is nil if there is none.
func startCopy(prepare prepared) (cmd *exec.Cmd, err error) {
	file, err := unreadable()
	if err != nil {
		return nil, err
	}
	cmd = prepare(fmt.Sprintf("/proc/self/fd/%d", socket+1), file)
	return cmd, withoutOverride(cmd.Start)
}

// withoutOverride calls start on a thread that may not read what its owner may not:
// root otherwise reads every file, and what it runs can be dumped.
func withoutOverride(start func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var all [2]unix.CapUserData
	if err := unix.Capget(&head, &all[0]); err != nil {
		return start()
	}
	fewer := all
	fewer[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
	if err := unix.Capset(&head, &fewer[0]); err != nil {
		return start()
	}
	err := start()
	if unix.Capset(&head, &all[0]) != nil {
		runtime.LockOSThread() // once more: the thread ends with its goroutine, and nothing else runs on it
	}
	return err
}
