package store_test

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"
)

// proxy stands between a store and PostgreSQL and can be cut, as a network is.
type proxy struct {
	listener net.Listener
	server   string

	mu    sync.Mutex
	down  bool              // takes connections and drops them
	mute  bool              // takes connections and says nothing
	cold  map[net.Conn]bool // pass nothing on any more, and stay open
	slow  time.Duration     // what it takes to let one connection in, one after the other
	entry sync.Mutex
	taken int              // connections, in all
	ended int              // of them
	onMsg func([]byte) cut // what to do about bytes from the client; nil passes all
	conns map[net.Conn]bool
}

// cut is where to cut a connection.
type cut int

const (
	pass   cut = iota
	before     // the bytes never reach the server
	after      // the server acts on them, its answer never reaches the client
)

// through starts a proxy to the server of raw and is the URL that leads there.
func through(t *testing.T, raw string) (*proxy, string) {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener, server: u.Host, conns: map[net.Conn]bool{}, cold: map[net.Conn]bool{}}
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
		p.drop()
		wg.Wait()
	})
	u.Host = listener.Addr().String()
	return p, u.String()
}

func (p *proxy) set(fn func(p *proxy)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fn(p)
}

// goDown cuts all connections and every new one.
func (p *proxy) goDown() {
	p.set(func(p *proxy) { p.down = true })
	p.drop()
}

func (p *proxy) comeBack() { p.set(func(p *proxy) { p.down, p.mute = false, false }) }

// freeze stops passing bytes on by the connections that there are.
func (p *proxy) freeze() {
	p.set(func(p *proxy) {
		for conn := range p.conns {
			p.cold[conn] = true
		}
	})
}

func (p *proxy) frozen(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cold[conn]
}

func (p *proxy) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken
}

// open is how many connections there are.
func (p *proxy) open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken - p.ended
}

func (p *proxy) drop() {
	p.set(func(p *proxy) {
		for conn := range p.conns {
			conn.Close()
		}
	})
}

func (p *proxy) serve(client net.Conn) {
	defer p.set(func(p *proxy) { p.ended++ })
	defer client.Close()
	p.mu.Lock()
	down, mute := p.down, p.mute
	p.conns[client] = true
	p.taken++
	slow := p.slow
	p.mu.Unlock()
	if slow > 0 {
		p.entry.Lock()
		<-time.After(slow)
		p.entry.Unlock()
	}
	if down {
		return
	}
	if mute {
		_, _ = io.Copy(io.Discard, client)
		return
	}
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	p.set(func(p *proxy) { p.conns[server] = true })
	deaf := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { p.answer(client, server, deaf) })
	p.forward(client, server, deaf)
	wg.Wait()
}

// forward passes on what the client says until it is to be cut.
func (p *proxy) forward(client, server net.Conn, deaf chan struct{}) {
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if err != nil {
			server.Close()
			return
		}
		if p.frozen(client) {
			continue
		}
		what := pass
		p.mu.Lock()
		if p.onMsg != nil {
			what = p.onMsg(buf[:n])
		}
		p.mu.Unlock()
		switch what {
		case before:
			server.Close()
			return
		case after:
			close(deaf)
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
		if what == after {
			return // answer hears when the server has acted
		}
	}
}

// answer passes on what the server says; once deaf is closed, nothing.
func (p *proxy) answer(client, server net.Conn, deaf chan struct{}) {
	defer client.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := server.Read(buf)
		if err != nil {
			return
		}
		select {
		case <-deaf:
			return
		default:
		}
		if p.frozen(client) {
			continue
		}
		if _, err := client.Write(buf[:n]); err != nil {
			return
		}
	}
}

// cutAt cuts where a client first says text.
func cutAt(text string, what cut) func([]byte) cut {
	done := false
	return func(msg []byte) cut {
		if done || !bytes.Contains(msg, []byte(text)) {
			return pass
		}
		done = true
		return what
	}
}
