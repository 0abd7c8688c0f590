package notify_test

import (
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// wire leads to a database, and can be lost.
type wire struct {
	listener net.Listener
	to       string

	mu   sync.Mutex
	lost bool // takes connections and drops them
	ends []*end
}

// end is one side of a connection.
type end struct {
	net.Conn
	frozen atomic.Bool // what it is sent is gone
}

func (e *end) Write(p []byte) (int, error) {
	if e.frozen.Load() {
		return len(p), nil
	}
	return e.Conn.Write(p)
}

// newWire is a wire to the database of raw, and the URL that leads over it.
func newWire(t *testing.T, raw string) (w *wire, through string) {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	w = &wire{to: u.Host}
	if w.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for conn, err := w.listener.Accept(); err == nil; conn, err = w.listener.Accept() {
			wg.Go(func() { w.serve(conn) })
		}
	})
	t.Cleanup(func() {
		w.listener.Close()
		w.lose(false)
		wg.Wait()
	})
	u.Host = w.listener.Addr().String()
	return w, u.String()
}

// lose cuts every connection, or freezes it, and lets no new one in.
func (w *wire) lose(freeze bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lost = true
	for _, e := range w.ends {
		if e.frozen.Store(freeze); !freeze {
			e.Close()
		}
	}
}

// mend lets new connections in.
func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lost = false
}

func (w *wire) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", w.to)
	if err != nil {
		return
	}
	defer server.Close()
	w.mu.Lock()
	lost := w.lost
	a, b := &end{Conn: client}, &end{Conn: server}
	w.ends = append(w.ends, a, b)
	w.mu.Unlock()
	if lost {
		return
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		pass(b, a)
	}()
	pass(a, b)
	<-ended
}

// pass passes bytes on until either side ends.
func pass(to, from *end) {
	defer to.Close()
	defer from.Close()
	_, _ = io.Copy(struct{ io.Writer }{to}, struct{ io.Reader }{from}) // an end is not news
}
