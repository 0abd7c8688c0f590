package outcome

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Files are how a command tells more than its end does: they stand in a folder that
// only this user may enter. The command may put anything in their place.
type Files struct{ Dir string }

const (
	resultFile   = "result"
	outcomeFile  = "outcome"
	progressFile = "progress"
)

// NameFiles draws the name of the folder of one attempt. The worker draws it and
// the supervisor makes the folder, so that each can remove it when the other dies.
func NameFiles() Files {
	temp := os.TempDir() // as TMPDIR says it; the command may go to another folder
	if absolute, err := filepath.Abs(temp); err == nil {
		temp = absolute
	}
	return Files{filepath.Join(temp, "stint-attempt-"+rand.Text())}
}

// make makes the folder, with the files empty in it: a container can be given them
// by name. What an error leaves is for Remove.
func (f Files) make() error {
	err := os.Mkdir(f.Dir, 0o700)
	for _, name := range []string{resultFile, outcomeFile, progressFile} {
		if err == nil {
			err = os.WriteFile(f.path(name), nil, 0o600)
		}
	}
	if err != nil {
		return fmt.Errorf("make the attempt's files: %w", err)
	}
	return nil
}

// Remove removes the folder and whatever is in it.
func (f Files) Remove() {
	if f.Dir != "" {
		_ = os.RemoveAll(f.Dir) // it stands among other temporary files if not
	}
}

// Env names the files to the command.
func (f Files) Env() []string {
	return []string{
		"STINT_RESULT=" + f.path(resultFile),
		"STINT_OUTCOME=" + f.path(outcomeFile),
		"STINT_PROGRESS=" + f.path(progressFile),
	}
}

func (f Files) path(name string) string { return filepath.Join(f.Dir, name) }

// read is what a file begins with, at most limit bytes; nothing if there is no
// file. What is not a regular file is not waited for, and a link not followed.
func (f Files) read(name string, limit int64) ([]byte, error) {
	fd, err := unix.Open(f.path(name), unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, syscall.ENOENT):
		return nil, nil
	case errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENXIO):
		return nil, errNoFile
	case err != nil:
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	file := os.NewFile(uintptr(fd), name)
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, errNoFile
	}
	text, err := io.ReadAll(io.LimitReader(file, limit))
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	return text, nil
}

var errNoFile = errors.New("is not a regular file")
