package schema

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
)

// The index of SQLite's log, PATH-shm: two copies of a header, then how many
// frames of the log are in the database already. Its numbers are in the byte
// order of the machine. (https://sqlite.org/walformat.html)
const (
	shmHeader  = 48
	shmVersion = 3007000
	shmFrames  = 16 // where a header says how many frames the log has
	shmCopied  = 2 * shmHeader
)

// LogLost refuses a database whose log (PATH-wal) is gone, while its index
// (PATH-shm) says that transactions stand in the log alone. A process that was
// killed leaves both; opening the database without its log would make a new
// index, and the last transactions would be missing without a word. SQLite
// itself removes the index first.
func LogLost(path string) error {
	for range 2 { // a process may just be opening the database, and have made its log
		if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if frames := framesLeft(path + "-shm"); frames == 0 {
			return nil
		}
	}
	name := path + "-wal"
	return refuse(CodeLogLost, []string{name}, "database_log_lost: %s is gone, and with it the newest transactions, which were not yet in %s: "+
		"put it back; or restore a backup; or remove %s-shm to go on without them", name, path, path)
}

// framesLeft is how many frames of the log are not in the database, by an index
// that is whole; else 0, for nothing is known then.
func framesLeft(shm string) uint32 {
	f, err := os.Open(shm)
	if err != nil {
		return 0
	}
	defer f.Close()
	b := make([]byte, shmCopied+4)
	if _, err := io.ReadFull(f, b); err != nil {
		return 0
	}
	number := func(at int) uint32 { return binary.NativeEndian.Uint32(b[at:]) }
	frames, copied := number(shmFrames), number(shmCopied)
	if number(0) != shmVersion || string(b[:shmHeader]) != string(b[shmHeader:2*shmHeader]) || copied > frames {
		return 0
	}
	return frames - copied
}
