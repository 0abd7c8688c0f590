package conformance

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"net"
	"net/http"
	"sync"
	"time"
)

// trial is one rule put to one worker.
type trial struct {
	rule  *Rule
	doc   *document
	token string

	mu sync.Mutex
	tape
	kept      map[string]keptAnswer
	lastClaim map[string]any
}

// done is what a work sends when it comes to its own end.
const done = "done\n"

// stepEvery is how often a trial looks whether it is time to go on.
const stepEvery = 20 * time.Millisecond

// try runs the script of a rule, slower by a factor, and is the tape of it.
func (c Config) try(ctx context.Context, doc *document, rule *Rule, slow float64) (*tape, *output, error) {
	t := &trial{rule: rule, doc: doc, token: "stint_" + rand.Text(), kept: map[string]keptAnswer{}}
	watch, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer watch.Close()
	api, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	t.slow, t.lease = slow, time.Duration(slow*float64(rule.lease))
	for _, in := range rule.jobs {
		in.Seconds *= slow
		t.jobs = append(t.jobs, newJob(watch.Addr().String(), in))
	}
	server := &http.Server{Handler: t, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(api) }()
	defer server.Close()
	go t.watch(watch)
	t.begun = time.Now()
	p, err := c.start("http://"+api.Addr().String(), t.token)
	if err != nil {
		return nil, nil, err
	}
	t.follow(ctx, p)
	t.end(p, server)
	return t.copy(), p.out, ctx.Err()
}

// follow looks on until enough was seen.
func (t *trial) follow(ctx context.Context, p *process) {
	tick := time.NewTicker(stepEvery)
	defer tick.Stop()
	var over time.Time
	for end := t.begun.Add(t.times(t.rule.most)); time.Now().Before(end); {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if over.IsZero() && t.step(p) {
			over = time.Now()
		}
		if !over.IsZero() && time.Since(over) >= t.times(t.rule.linger) {
			return
		}
	}
}

// step sends the signal when it is time, and tells whether enough was seen.
func (t *trial) step(p *process) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rule.term != nil && t.termed.IsZero() && t.rule.term(&t.tape) {
		t.termed = time.Now()
		p.term()
	}
	select {
	case <-p.ended:
		if t.exited.IsZero() {
			t.exited, t.exit = time.Now(), p.state()
		}
		return !t.working() || time.Since(t.exited) > time.Second
	default:
	}
	return t.rule.over(&t.tape)
}

// end stops the recording, and ends all that the worker has started.
func (t *trial) end(p *process, server *http.Server) {
	t.mu.Lock()
	t.closed = time.Now()
	t.mu.Unlock()
	p.term()
	server.Close()
	select {
	case <-p.ended:
	case <-time.After(endTime):
	}
	p.kill()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range t.works {
		if w.ended.IsZero() {
			killOne(w.PID)
		}
	}
}

// copy is the tape as it is now: what still arrives is not assessed.
func (t *trial) copy() *tape {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.tape
	out.calls, out.works, out.jobs = nil, nil, nil
	jobs := map[*job]*job{}
	for _, j := range t.jobs {
		one := *j
		jobs[j] = &one
		out.jobs = append(out.jobs, &one)
	}
	for _, c := range t.calls {
		one := *c
		one.job = jobs[c.job]
		out.calls = append(out.calls, &one)
	}
	for _, w := range t.works {
		one := *w
		one.job = jobs[w.job]
		out.works = append(out.works, &one)
	}
	return &out
}

// note changes what is on the tape.
func (t *trial) note(change func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change()
}

// watch takes the connections of works until the listener is closed.
func (t *trial) watch(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go t.attend(conn)
	}
}

// attend puts one work on the tape. The connection ends with the process.
func (t *trial) attend(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return
	}
	w := &work{begun: time.Now()}
	if json.Unmarshal(line, &w.Hello) != nil || !t.knows(w) {
		return
	}
	line, err = in.ReadBytes('\n')
	for err == nil {
		_, err = in.ReadByte()
	}
	t.note(func() { w.ended, w.done = time.Now(), string(line) == done })
}

// knows takes a work onto the tape, if it names one of the jobs: names are not
// to be guessed, so that nobody else has us kill a process of theirs.
func (t *trial) knows(w *work) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, j := range t.jobs {
		if j.work == w.Work {
			w.job = j
			t.works = append(t.works, w)
			return true
		}
	}
	return false
}
