package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/store/inspect"
)

// sqlite reads the file as a second process beside the server.
func (e *exam) sqlite(ctx context.Context) error {
	l, err := inspect.OpenSQLite(e.URL)
	if err != nil {
		return err
	}
	defer l.Close()
	info, err := os.Stat(l.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no database %s", l.Path)
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%s is no database: it is not a regular file", l.Path)
	}
	sound := e.integrity(ctx, l)
	if sound {
		if err := e.schema(ctx); err != nil {
			e.unmeasured("schema", "versions", err)
		}
		e.orphans(ctx, l)
		e.newest(ctx, l)
	}
	e.journal(ctx, l)
	e.log(l)
	e.modes(l)
	e.disk(l)
	return nil
}

func (e *exam) integrity(ctx context.Context, l *inspect.SQLite) (sound bool) {
	says, err := l.Quick(ctx)
	if err != nil {
		e.unmeasured("integrity", "", err)
		return true
	}
	c := Check{ID: "integrity", State: OK, Value: "ok", Detail: "quick_check found nothing"}
	if says != "ok" {
		c.State, c.Value, c.Detail, c.Advice = Fail, "damaged", "quick_check: "+says, "stop the server and restore a backup: stint backup restore --force"
	}
	e.add(c)
	return says == "ok"
}

func (e *exam) orphans(ctx context.Context, l *inspect.SQLite) {
	n, table, err := l.Orphans(ctx)
	if err != nil {
		e.unmeasured("foreign_keys", "rows", err)
		return
	}
	c := Check{ID: "foreign_keys", State: OK, Value: n, Unit: "rows", Detail: "every row has its parent"}
	if n > 0 {
		c.State, c.Detail, c.Advice = Fail, fmt.Sprintf("rows without a parent, some in %s", table), "something else wrote to the file: remove those rows, or restore a backup"
	}
	e.add(c)
}

// newest: on SQLite the machine's clock is the database's. Rows of the future
// show that it was set back.
func (e *exam) newest(ctx context.Context, l *inspect.SQLite) {
	newest, err := l.Newest(ctx)
	if err != nil {
		e.unmeasured("clock_skew", "s", err)
		return
	}
	wall, err := store.Wall()
	if err != nil {
		e.unmeasured("clock_skew", "s", err)
		return
	}
	ahead := time.Duration(0)
	if !newest.IsZero() {
		ahead = max(0, newest.Sub(wall))
	}
	e.clock(ahead, "the newest job is that much ahead of this machine's clock")
}

func (e *exam) journal(ctx context.Context, l *inspect.SQLite) {
	mode, err := l.JournalMode(ctx)
	if err != nil {
		e.unmeasured("journal_mode", "", err)
		return
	}
	c := Check{ID: "journal_mode", State: OK, Value: mode, Detail: "readers and the writer do not wait for each other"}
	if mode != "wal" {
		c.State, c.Detail, c.Advice = Warn, "readers and the writer wait for each other", "start the server, which sets it to wal"
	}
	e.add(c)
}

func (e *exam) log(l *inspect.SQLite) {
	size, err := l.LogBytes()
	if err != nil {
		e.unmeasured("wal_size", "bytes", err)
		return
	}
	e.add(Check{
		ID: "wal_size", State: above(size, e.Limits.LogWarn, e.Limits.LogFail), Value: size, Unit: "bytes",
		Detail: "the log is cut back to 4194304 bytes every 20 s unless a reader keeps it",
		Advice: "end what has read the database for long (sqlite3, a backup); a running server then cuts the log back",
	})
}

// modes: others who may read the files have the hashes of tokens, payloads, and
// the owner's token; who may write them has everything.
func (e *exam) modes(l *inspect.SQLite) {
	modes, err := l.Modes()
	if err != nil {
		e.unmeasured("file_modes", "files", err)
		return
	}
	c := Check{ID: "file_modes", State: OK, Unit: "files", Detail: "only the owner can read the files"}
	var open []string
	for i, m := range modes {
		state := modeState(m.Mode, i == 0)
		if state == OK {
			continue
		}
		if c.State != Fail {
			c.State = state
		}
		open = append(open, fmt.Sprintf("%s is %04o", m.Name, m.Mode.Perm()))
	}
	c.Value = len(open)
	if len(open) > 0 {
		c.Detail, c.Advice = strings.Join(open, ", "), "chmod 600 the files; chmod go-w the folder"
	}
	e.add(c)
}

// modeState: a folder may be read by others, and written if its sticky bit
// keeps them from replacing files.
func modeState(m fs.FileMode, folder bool) string {
	switch {
	case m.Perm()&0o022 != 0 && !(folder && m&fs.ModeSticky != 0):
		return Fail
	case m.Perm()&0o044 != 0 && !folder:
		return Warn
	}
	return OK
}

func (e *exam) disk(l *inspect.SQLite) {
	free, err := l.Free()
	if err != nil {
		e.unmeasured("disk_space", "bytes", err)
		return
	}
	e.add(Check{
		ID: "disk_space", State: below(free, e.Limits.FreeWarn, e.Limits.FreeFail), Value: free, Unit: "bytes",
		Detail: fmt.Sprintf("free beside a database of %d bytes", l.Bytes()), Advice: "make room: without it every write is refused",
	})
}
