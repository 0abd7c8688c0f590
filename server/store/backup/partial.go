package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
)

// partial is a file on its way to its name, alone in a folder beside that. A lock on
// the folder tells it from the folders of killed processes. The folder is locked and
// not the file: on some systems a lock on the file would keep SQLite out.
type partial struct {
	path, final string
	dir         *os.File
}

// partialFile is the name of the file in its folder.
const partialFile = "file"

// newPartial makes an empty file for its owner's eyes only: a backup holds the
// hashes of tokens and the key of cursors.
func newPartial(final string) (partial, error) {
	removeAbandoned(final)
	dir, err := newLocked(final)
	if err != nil {
		return partial{}, err
	}
	p := partial{filepath.Join(dir.Name(), partialFile), final, dir}
	f, err := os.OpenFile(p.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		err = errors.Join(f.Chmod(0o600), f.Close()) // the umask may have taken too much
	}
	if err != nil {
		p.discard()
	}
	return p, err
}

// newLocked makes a folder beside final and locks it. Until it is locked somebody
// may take it for an abandoned one; then another is made.
func newLocked(final string) (*os.File, error) {
	for {
		name, err := os.MkdirTemp(filepath.Dir(final), "."+filepath.Base(final)+".*.partial")
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("the directory %s does not exist", filepath.Dir(final))
		}
		if err != nil {
			return nil, err
		}
		if err := os.Chmod(name, 0o700); err != nil && !errors.Is(err, fs.ErrNotExist) { // the umask may have taken too much
			return nil, errors.Join(err, os.Remove(name))
		}
		dir, err := lockDir(name)
		if errors.Is(err, errLocked) || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil { // a file system without locks: nobody removes what cannot be locked
			dir, err = os.Open(name)
		}
		if err != nil {
			return nil, errors.Join(err, os.Remove(name))
		}
		return dir, nil
	}
}

// removeAbandoned removes what killed processes left on the way to final: the
// folders that nobody holds.
func removeAbandoned(final string) {
	mine := regexp.MustCompile(`^\.` + regexp.QuoteMeta(filepath.Base(final)) + `\.[0-9]+\.partial$`)
	entries, _ := os.ReadDir(filepath.Dir(final)) // whoever makes a folder there says what is wrong with it
	for _, entry := range entries {
		if !entry.IsDir() || !mine.MatchString(entry.Name()) {
			continue
		}
		dir, err := lockDir(filepath.Join(filepath.Dir(final), entry.Name()))
		if err != nil {
			continue // somebody holds it, or has just removed it
		}
		partial{dir: dir}.discard()
	}
}

// lockDir locks a folder that is there until it is closed.
func lockDir(name string) (*os.File, error) {
	dir, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if err = lockAlone(dir); err == nil {
		err = stillThere(dir)
	}
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return dir, nil
}

// stillThere is an fs.ErrNotExist if somebody removed a folder before it was locked.
func stillThere(dir *os.File) error {
	held, err := dir.Stat()
	if err != nil {
		return err
	}
	named, err := os.Stat(dir.Name())
	if err == nil && !os.SameFile(held, named) {
		err = fs.ErrNotExist
	}
	return err
}

// finish writes the checksum of a backup that was checked, and gives it its name.
func (p partial) finish(ctx context.Context, r Report) (Report, error) {
	sum, err := seal(ctx, p.path)
	if err == nil {
		r.SHA256, r.Bytes = &sum, sizeOf(p.path)
		err = p.place()
	}
	if err != nil {
		return r, fmt.Errorf("put the backup in place: %w", err)
	}
	return r, nil
}

// place gives a file that is on disk its name, if that is free.
func (p partial) place() error {
	err := os.Link(p.path, p.final) // unlike a rename it replaces nothing
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists: somebody else made it meanwhile", p.final)
	}
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOTSUP) { // a file system without links
		if err = vacant(p.final, "somebody else made it meanwhile"); err == nil {
			return p.replace()
		}
	}
	if err != nil {
		return err
	}
	return errors.Join(os.Remove(p.path), syncPath(filepath.Dir(p.final)))
}

// replace gives a file that is on disk its name, whoever has it.
func (p partial) replace() error {
	if err := os.Rename(p.path, p.final); err != nil {
		return err
	}
	return syncPath(filepath.Dir(p.final))
}

// discard removes what was not placed.
func (p partial) discard() {
	path := filepath.Join(p.dir.Name(), partialFile)
	for _, name := range append(besides(path), path, p.dir.Name()) {
		_ = os.Remove(name) // a folder with more in it is somebody's own, and stays
	}
	_ = p.dir.Close()
}
