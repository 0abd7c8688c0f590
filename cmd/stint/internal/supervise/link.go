package supervise

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// kind says what a message between worker and supervisor is.
type kind byte

const (
	// from the worker
	msgJob       kind = iota // the Job, as wireJob
	msgExtend                // Until, a number
	msgTerminate             // grace in nanoseconds, a number
	msgKill                  // a number to be echoed
	msgPing                  // a number to be echoed
	msgKept                  // the exit status is safe with the worker
	msgSettled               // the report is made or will never be
	// from the supervisor
	msgStarted // the command's pid, a number
	msgFailed  // why the command cannot be started, as failure
	msgStdout  // what the command printed
	msgStderr
	msgEcho   // the number of a ping or a kill
	msgExited // the command's wait status, a number
	msgEnd    // the End, as JSON
)

// maxMessage is far above the largest job; what says to be longer is broken.
const maxMessage = 1 << 28

// message is one of either side.
type message struct {
	kind kind
	body []byte
}

func numbered(k kind, n int64) message {
	return message{k, binary.BigEndian.AppendUint64(nil, uint64(n))}
}

// number is the body of a message that was made by numbered.
func (m message) number() int64 {
	if len(m.body) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(m.body))
}

func encoded(k kind, v any) message {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // only our own types, all of which JSON can hold
	}
	return message{k, body}
}

// link is one end of the socket between worker and supervisor. The other side is
// dead when it ends.
type link struct {
	file *os.File
	r    *bufio.Reader
	mu   sync.Mutex // of writes
}

func newLink(file *os.File) *link { return &link{file: file, r: bufio.NewReaderSize(file, 64<<10)} }

// newPair is a socket that only the two ends hold.
func newPair() (near, far *os.File, err error) {
	syscall.ForkLock.RLock() // no process is started before both are close-on-exec
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("make a socket pair: %w", err)
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, nil, fmt.Errorf("make a socket pair: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "supervisor"), os.NewFile(uintptr(fds[1]), "worker"), nil
}

// send sends a message whole. A side that takes none for so long as patience is
// frozen, and the link of no use; 0 waits for ever.
func (l *link) send(m message, patience time.Duration) error {
	frame := make([]byte, 5, 5+len(m.body))
	frame[0] = byte(m.kind)
	binary.BigEndian.PutUint32(frame[1:], uint32(len(m.body)))
	frame = append(frame, m.body...)
	l.mu.Lock()
	defer l.mu.Unlock()
	if patience > 0 {
		_ = l.file.SetWriteDeadline(time.Now().Add(patience))
	}
	_, err := l.file.Write(frame)
	return err
}

func (l *link) receive() (message, error) {
	var head [5]byte
	if _, err := io.ReadFull(l.r, head[:]); err != nil {
		return message{}, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxMessage {
		return message{}, fmt.Errorf("a message of %d bytes", n)
	}
	m := message{kind(head[0]), make([]byte, n)}
	_, err := io.ReadFull(l.r, m.body)
	return m, err
}
