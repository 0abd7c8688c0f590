//go:build linux

package e2e

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// attempt is a command of one run, as seen from outside.
type attempt struct {
	run       string
	job       int // its place in the plan
	pid       int
	holder    procID // its supervisor, if it has one
	began     time.Time
	saysExit0 time.Time // its last word before it exits 0; zero if there was none
	ended     time.Time // the command itself
	exit      int       // its wait status; -1 if that is not known
	gone      time.Time // the last process of the attempt
}

// watch collects what the commands of a round tell, and what becomes of them.
type watch struct {
	dir    string
	events *os.File
	all    sync.WaitGroup

	mu       sync.Mutex
	attempts []*attempt
	moments  map[string]chan struct{}
	lines    []line
	faults   []string
}

// line is one of a round's record.
type line struct {
	at   time.Time
	text string
}

func newWatch(dir string) (*watch, error) {
	w := &watch{dir: dir, moments: map[string]chan struct{}{}}
	for _, name := range []string{"runs", "jobs", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			return nil, err
		}
	}
	fifo := filepath.Join(dir, "events")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		return nil, err
	}
	var err error
	// Open for writing as well, it never ends.
	if w.events, err = os.OpenFile(fifo, os.O_RDWR, 0); err != nil {
		return nil, err
	}
	w.all.Go(w.read)
	return w, nil
}

// read takes the words of commands until close.
func (w *watch) read() {
	scanner := bufio.NewScanner(w.events)
	for scanner.Scan() {
		var word, run, key string
		var pid, job int
		if _, err := fmt.Sscan(scanner.Text(), &word, &run, &key, &pid); err != nil {
			w.fault("a command says %q", scanner.Text())
			continue
		}
		_, _ = fmt.Sscanf(key[strings.LastIndex(key, "-")+1:], "%d", &job)
		w.note("job %d, run %s: %s", job, run, word)
		switch word {
		case "begin":
			w.begin(&attempt{run: run, job: job, pid: pid, began: time.Now(), exit: -1})
		case "exit0":
			w.set(func() { w.attempt(run).saysExit0 = time.Now() })
		case "overlap":
			w.fault("job %d: a command has begun beside another one of its job: run %s", job, run)
			w.all.Go(func() { w.note("beside run %s: %v", run, w.beside(job)) })
		}
		w.reached(fmt.Sprintf("%s %d", word, job))
	}
}

// begin follows a command and its attempt to their ends.
func (w *watch) begin(a *attempt) {
	end, err := endOf(a.pid)
	a.holder = holderOf(a.pid)
	a.ended = a.began // if it has ended already
	w.set(func() { w.attempts = append(w.attempts, a) })
	if err == nil {
		w.all.Go(func() {
			status := end()
			w.set(func() { a.ended, a.exit = time.Now(), status })
			w.note("job %d, run %s: ended with status %#x", a.job, a.run, status)
		})
	}
	w.all.Go(func() {
		err := awaitUnlocked(filepath.Join(w.dir, "runs", a.run))
		w.set(func() { a.gone = time.Now() })
		w.note("job %d, run %s: nothing of it is left %v", a.job, a.run, errText(err))
	})
}

// awaitUnlocked returns when nobody has the lock of a file.
func awaitUnlocked(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		if err = unix.Flock(int(f.Fd()), unix.LOCK_SH); err != unix.EINTR {
			return err
		}
	}
}

// attempt is that of a run; the caller has the lock.
func (w *watch) attempt(run string) *attempt {
	for _, a := range w.attempts {
		if a.run == run {
			return a
		}
	}
	return &attempt{}
}

// beside are the processes of a job's attempts that are not gone.
func (w *watch) beside(job int) (found []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.attempts {
		if a.job == job && a.gone.IsZero() {
			all := processes(func(p proc) bool { return hasMark(p.pid, "STINT_RUN_ID="+a.run) })
			found = append(found, fmt.Sprintf("%s: %v", a.run, all))
		}
	}
	return found
}

func (w *watch) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

// moment is a channel that is closed when the moment has come.
func (w *watch) moment(name string) chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.moments[name] == nil {
		w.moments[name] = make(chan struct{})
	}
	return w.moments[name]
}

func (w *watch) reached(name string) {
	come := w.moment(name)
	select {
	case <-come:
	default:
		close(come)
	}
}

func (w *watch) note(format string, args ...any) {
	at := time.Now()
	w.set(func() { w.lines = append(w.lines, line{at, fmt.Sprintf(format, args...)}) })
}

func (w *watch) fault(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.note("FAULT: %s", text)
	w.set(func() { w.faults = append(w.faults, text) })
}

// close ends the reading, once nothing of the round is left.
func (w *watch) close() {
	w.events.Close()
	w.all.Wait()
}

// record is what happened, merged with a log whose lines begin with time=….
func (w *watch) record(logs ...string) string {
	w.mu.Lock()
	lines := slices.Clone(w.lines)
	w.mu.Unlock()
	for _, log := range logs {
		var at time.Time
		for text := range strings.Lines(log) {
			text = strings.TrimSpace(text)
			if stamp, rest, ok := strings.Cut(strings.TrimPrefix(text, "time="), " "); ok {
				if then, err := time.Parse(time.RFC3339, stamp); err == nil {
					at, text = then, rest
				}
			}
			lines = append(lines, line{at, "    " + text[:min(len(text), 200)]})
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return a.at.Compare(b.at) })
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%s %s\n", l.at.Format("15:04:05.000"), l.text)
	}
	return b.String()
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
