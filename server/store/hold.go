package store

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/bounded"
)

// ErrServed: another process serves this SQLite file.
var ErrServed = errors.New("the database has a server already")

// Hold makes this process the one server of an SQLite file, until release or the
// process's end, however that comes. Two servers on one file would do no harm to
// its rows; but they would wait for each other's writes without fairness, wake
// only their own claimers, and each believe that it sees all the work. Commands
// that work beside a server, as migrations and backups do, hold nothing.
//
// What is locked is PATH.server, PATH being what SQLitePath gives; it names its
// holder. The file stays: removing it would let two processes hold "it".
func Hold(path string) (release func(), err error) {
	name := path + ".server"
	if err := schema.CreateFile(name); err != nil {
		return nil, fmt.Errorf("mark the database as served: %w", err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("mark the database as served: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("%s: %w, %s: an SQLite database has one; stop that one first, or use PostgreSQL for several", path, ErrServed, holder(name))
	}
	if err == nil {
		err = sign(f)
	}
	if err != nil {
		_ = f.Close() // which also unlocks
		return nil, err
	}
	return sync.OnceFunc(func() { _ = f.Close() }), nil
}

// oneName refuses a file with a hard link: SQLite keeps its log, and Hold its
// lock, beside the name that was opened. Under another name the file is another
// database, and two logs are written into it.
func oneName(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("open the database %s: %w", path, err)
	}
	if of, ok := info.Sys().(*syscall.Stat_t); ok && of.Nlink > 1 {
		return fmt.Errorf("%s has %d names (hard links), and SQLite's log stands beside one only: stop what uses the other names, and remove them", path, of.Nlink)
	}
	return nil
}

// sign writes who holds the file: a process of this machine, or of the container
// that calls itself that.
func sign(f *os.File) error {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	if err := f.Truncate(0); err != nil {
		return fmt.Errorf("mark the database as served: %w", err)
	}
	if _, err := fmt.Fprintf(f, "process %d on %s\n", os.Getpid(), host); err != nil {
		return fmt.Errorf("mark the database as served: %w", err)
	}
	return nil
}

// holder is who holds the file; it may be about to sign.
func holder(name string) string {
	text, err := bounded.File(name, 1<<10)
	if line := strings.TrimSpace(string(text)); err == nil && line != "" {
		return line
	}
	return "another process"
}

// hold holds a file that is to be served, which it makes if it is not there.
func hold(path string, c Config) (release func(), err error) {
	if !c.Serve {
		return func() {}, nil
	}
	if err := schema.CreateFile(path); err != nil {
		return nil, fmt.Errorf("open the database %s: %w", path, err)
	}
	if err := oneName(path); err != nil {
		return nil, err
	}
	return Hold(path)
}
