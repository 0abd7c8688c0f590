package dbtest

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"
)

// Proxy stands between a store and PostgreSQL and can be cut, as a network is. Its
// exported members are set within Set.
type Proxy struct {
	listener net.Listener
	server   string

	Down  bool             // takes connections and drops them
	Mute  bool             // takes connections and says nothing
	Slow  time.Duration    // what it takes to let one connection in, one after the other
	OnMsg func([]byte) Cut // what to do about bytes from the client; nil passes all

	mu    sync.Mutex
	entry sync.Mutex
	cold  map[net.Conn]bool // pass nothing on any more, and stay open
	conns map[net.Conn]bool
	taken int // connections, in all
	ended int // of them
}

// Cut is where to cut a connection.
type Cut int

// The places to cut at.
const (
	Pass   Cut = iota // none
	Before            // the bytes never reach the server
	After             // the server acts on them, its answer never reaches the client
)

// Through starts a proxy to the server of a URL and is the URL that leads there by it.
func Through(t *testing.T, raw string) (*Proxy, string) {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: listener, server: u.Host, conns: map[net.Conn]bool{}, cold: map[net.Conn]bool{}}
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

// Set changes what it does from now on.
func (p *Proxy) Set(fn func(p *Proxy)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fn(p)
}

// GoDown cuts all connections and every new one.
func (p *Proxy) GoDown() {
	p.Set(func(p *Proxy) { p.Down = true })
	p.drop()
}

// ComeBack lets new connections in.
func (p *Proxy) ComeBack() { p.Set(func(p *Proxy) { p.Down, p.Mute = false, false }) }

// Freeze stops passing bytes on by the connections that there are.
func (p *Proxy) Freeze() {
	p.Set(func(p *Proxy) {
		for conn := range p.conns {
			p.cold[conn] = true
		}
	})
}

func (p *Proxy) frozen(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cold[conn]
}

// Count is how many connections were taken.
func (p *Proxy) Count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken
}

// Open is how many connections there are.
func (p *Proxy) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken - p.ended
}

func (p *Proxy) drop() {
	p.Set(func(p *Proxy) {
		for conn := range p.conns {
			conn.Close()
		}
	})
}

func (p *Proxy) serve(client net.Conn) {
	defer p.Set(func(p *Proxy) { p.ended++ })
	defer client.Close()
	p.mu.Lock()
	down, mute := p.Down, p.Mute
	p.conns[client] = true
	p.taken++
	slow := p.Slow
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
	p.Set(func(p *Proxy) { p.conns[server] = true })
	deaf := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { p.answer(client, server, deaf) })
	p.forward(client, server, deaf)
	wg.Wait()
}

// cut is where to cut for what the client says.
func (p *Proxy) cut(msg []byte) Cut {
	p.mu.Lock()
	defer p.mu.Unlock() // also if OnMsg ends the test
	if p.OnMsg == nil {
		return Pass
	}
	return p.OnMsg(msg)
}

// forward passes on what the client says until it is to be cut.
func (p *Proxy) forward(client, server net.Conn, deaf chan struct{}) {
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
		what := p.cut(buf[:n])
		switch what {
		case Before:
			server.Close()
			return
		case After:
			close(deaf)
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
		if what == After {
			return // answer hears when the server has acted
		}
	}
}

// answer passes on what the server says; once deaf is closed, nothing.
func (p *Proxy) answer(client, server net.Conn, deaf chan struct{}) {
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

// CutAt cuts where a client first says text.
func CutAt(text string, what Cut) func([]byte) Cut {
	done := false
	return func(msg []byte) Cut {
		if done || !bytes.Contains(msg, []byte(text)) {
			return Pass
		}
		done = true
		return what
	}
}
