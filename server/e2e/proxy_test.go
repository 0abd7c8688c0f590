package e2e

import (
	"io"
	"net"
	"sync"
	"testing"
)

// proxy is a TCP connection between two parties that a test can cut. It passes
// bytes on as they are.
type proxy struct {
	t        *testing.T
	listener net.Listener
	target   func() string // host:port

	mu      sync.Mutex
	mode    string
	changed chan struct{} // closed when the mode changes
	conns   map[net.Conn]bool
	// answered runs at the first bytes that the target sends, which are then not
	// passed on; see onAnswer.
	answered func()
}

// The modes of a proxy.
const (
	open    = "open"
	closed  = "closed"  // connections are cut, and new ones at once
	silent  = "silent"  // connections stay, and nothing passes, then or later
	stalled = "stalled" // nothing passes until the mode changes
)

func newProxy(t *testing.T, target func() string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, listener: listener, target: target, mode: open, changed: make(chan struct{}), conns: map[net.Conn]bool{}}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { p.serve(conn) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		p.set(closed)
		wg.Wait()
	})
	return p
}

func (p *proxy) addr() string { return p.listener.Addr().String() }

// set changes the mode; closing cuts what is open.
func (p *proxy) set(mode string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = mode
	close(p.changed)
	p.changed = make(chan struct{})
	if mode == closed {
		for conn := range p.conns {
			conn.Close()
		}
	}
}

// onAnswer has fn run at the first bytes that the target sends on connections
// from now on, in place of passing them on.
func (p *proxy) onAnswer(fn func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answered = fn
}

// keep notes a connection; false if it is to be cut.
func (p *proxy) keep(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[conn] = true
	return p.mode != closed
}

func (p *proxy) drop(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
	conn.Close()
}

func (p *proxy) serve(client net.Conn) {
	defer p.drop(client)
	if !p.keep(client) {
		return
	}
	server, err := net.Dial("tcp", p.target())
	if err != nil {
		return
	}
	defer p.drop(server)
	if !p.keep(server) {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.pass(server, client, nil)
	}()
	p.mu.Lock()
	answered := p.answered
	p.mu.Unlock()
	p.pass(client, server, answered)
	client.Close()
	server.Close()
	<-done
}

// pass passes bytes from one side on until either ends.
func (p *proxy) pass(to, from net.Conn, first func()) {
	buf := make([]byte, 32<<10)
	lost := false // what is behind a gap is of no use to anybody
	for {
		n, err := from.Read(buf)
		if n > 0 && first != nil {
			first()
			return
		}
		if lost = lost || p.passing() == silent; n > 0 && !lost {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			if err == io.EOF {
				if half, ok := to.(*net.TCPConn); ok {
					_ = half.CloseWrite() // the other direction may go on
				}
			}
			return
		}
	}
}

// passing is the mode, once that is none in which bytes wait.
func (p *proxy) passing() string {
	for {
		p.mu.Lock()
		mode, changed := p.mode, p.changed
		p.mu.Unlock()
		if mode != stalled {
			return mode
		}
		<-changed
	}
}
