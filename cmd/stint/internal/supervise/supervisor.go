package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/boottime"
)

const (
	// every is how often a supervisor looks at the clock: a machine that wakes up
	// has its overdue commands ended within it.
	every = 250 * time.Millisecond
	// silence is how long a worker says nothing when it is frozen: it pings every
	// second.
	silence = 3 * time.Second
)

// now is the clock; tests have it jump.
var now = boottime.Now

// supervisor is the process beside one command.
type supervisor struct {
	link  *link
	job   wireJob
	out   *outbox
	pipes *outputs
	tree  tree

	attempt Attempt // nil: none
	until   boottime.Instant
	killAt  boottime.Instant // when the grace of Terminate is over; 0: nobody asked
	end     End

	inbox      chan message // closed when the worker is dead
	heard      boottime.Instant
	workerDead bool
	forced     bool // the worker is dead, and that is why the command ended
}

func newSupervisor(l *link, j wireJob) *supervisor {
	return &supervisor{
		link: l, job: j, until: boottime.Instant(j.Until),
		out: newOutbox(l), inbox: make(chan message, 64), heard: now(),
	}
}

func (s *supervisor) run(attempt func([]byte) (Attempt, error)) error {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	if err := s.start(attempt); err != nil {
		return s.link.send(encoded(msgFailed, failureOf(err)), silence)
	}
	go s.listen()
	clock := time.NewTicker(every)
	defer clock.Stop()
	s.watch(ended, clock.C)
	s.finish()
	s.settle(clock.C)
	return nil
}

func (s *supervisor) start(attempt func([]byte) (Attempt, error)) (err error) {
	if attempt != nil {
		if s.attempt, err = attempt(s.job.Handover); err != nil {
			return fmt.Errorf("prepare the attempt: %s", err) // not wrapped: it is no fault of the command
		}
	}
	if s.pipes, err = newOutputs(s.output); err != nil {
		return err
	}
	args := make([]string, len(s.job.Args))
	for i, arg := range s.job.Args {
		args[i] = string(arg)
	}
	if now() >= s.until {
		return errors.New("the command's time was over before it could start")
	}
	if s.tree.command, err = s.pipes.start(string(s.job.Path), args); err != nil {
		return &os.PathError{Op: "start", Path: string(s.job.Path), Err: err}
	}
	_ = s.link.send(numbered(msgStarted, int64(s.tree.command)), 0) // before all else that is told of it
	s.pipes.copy(s.job.Stdin)
	s.job = wireJob{} // it may be large
	return nil
}

// failureOf tells a command that can never be executed from a machine that is full.
func failureOf(err error) failure {
	f := failure{Text: err.Error()}
	var path *os.PathError
	if errors.As(err, &path) {
		switch path.Err {
		case syscall.EAGAIN, syscall.ENOMEM, syscall.ENFILE, syscall.EMFILE, syscall.EINTR, syscall.EIO, syscall.ETXTBSY:
		default:
			f.Useless = true
		}
	}
	return f
}

func (s *supervisor) output(stream int, p []byte) {
	if s.attempt != nil {
		s.attempt.Output(stream, p)
	}
	k := msgStdout
	if stream == 2 {
		k = msgStderr
	}
	s.out.output(k, p)
}

// listen reads what the worker says. Pings are answered here, so that a long kill
// does not look like a frozen supervisor.
func (s *supervisor) listen() {
	defer close(s.inbox)
	defer s.tree.kept.Store(true)
	for {
		m, err := s.link.receive()
		if err != nil {
			return
		}
		switch m.kind {
		case msgPing, msgKill:
			s.out.tell(numbered(msgEcho, m.number()))
		case msgKept, msgSettled:
			s.tree.kept.Store(true)
		}
		s.inbox <- m
	}
}

// watch waits until the command has ended by itself or must be killed.
func (s *supervisor) watch(ended <-chan os.Signal, clock <-chan time.Time) {
	for kill := false; !kill; {
		select {
		case <-ended:
		case <-clock:
			kill = s.overdue()
		case m, ok := <-s.inbox:
			kill = s.obey(m, ok)
		}
		if s.tree.look(); s.tree.ended {
			return
		}
	}
}

// overdue tells whether it is time to kill.
func (s *supervisor) overdue() bool {
	t := now()
	return t >= s.until || s.killAt != 0 && t >= s.killAt
}

// obey does as the worker says; it tells whether to kill the command now.
func (s *supervisor) obey(m message, alive bool) (kill bool) {
	if !alive {
		s.workerDead, s.inbox = true, nil
		return true
	}
	s.heard = now()
	switch m.kind {
	case msgExtend:
		s.until = boottime.Instant(m.number())
		return s.overdue()
	case msgTerminate:
		s.terminate(s.heard.Add(time.Duration(m.number())))
		return s.overdue()
	case msgKill:
		s.end.Asked = s.end.Asked || !s.tree.ended
		return true
	}
	return false
}

// terminate asks all of the command once to end; the earliest time to kill counts.
func (s *supervisor) terminate(killAt boottime.Instant) {
	if s.tree.ended {
		return
	}
	if !s.end.Asked {
		s.tree.signal(syscall.SIGTERM)
		s.end.Asked = true
	}
	if s.killAt == 0 || killAt < s.killAt {
		s.killAt = killAt
	}
}

// finish kills what is left, and makes the report.
func (s *supervisor) finish() {
	byItself := s.tree.ended
	if byItself {
		s.out.tell(numbered(msgExited, int64(s.tree.status)))
	}
	s.end.Left = s.tree.kill()
	s.end.Status, s.end.Known = s.tree.status, s.tree.ended
	s.end.Expired = !byItself && now() >= s.until
	s.forced = !byItself && s.workerDead && !(s.tree.ended && s.tree.status.Exited())
	if !byItself && s.tree.ended {
		s.out.tell(numbered(msgExited, int64(s.tree.status)))
	}
	s.pipes.end()
	s.end.Dropped = s.out.lost()
	if s.attempt != nil {
		s.end.Report = s.attempt.Ended(s.end)
	}
	s.out.add(encoded(msgEnd, s.end))
}

// settle waits until the worker is done with the end. When it is dead, or silent
// while the time for a report runs out, the attempt makes the report itself.
func (s *supervisor) settle(clock <-chan time.Time) {
	half := now().Add(s.until.Sub(now()) / 2)
	ctx, back := context.WithCancel(context.Background())
	defer back()
	var alone <-chan struct{}
	for {
		t := now()
		silent := t >= half && t.Sub(s.heard) >= silence
		if alone == nil && (s.workerDead || silent) {
			alone = s.alone(ctx)
		}
		over := alone
		if !s.workerDead {
			over = nil // a worker that wakes up finds the end here
		}
		select {
		case <-over:
			return
		case <-clock:
		case m, ok := <-s.inbox:
			s.obey(m, ok)
			if ok && m.kind == msgSettled {
				s.tree.look()
				return
			}
		}
	}
}

// alone has the attempt make the report, if there is one.
func (s *supervisor) alone(ctx context.Context) <-chan struct{} {
	done := make(chan struct{})
	report := s.end.Report
	if s.forced {
		report = nil
	}
	go func() {
		defer close(done)
		if s.attempt != nil {
			s.attempt.Alone(ctx, report)
		}
	}()
	return done
}
