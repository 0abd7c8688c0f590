//go:build linux

package e2e

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// plan is all that is drawn for a round before it begins.
type plan struct {
	jobs  []jobPlan
	side  string // whom it kills or freezes: never both
	steps []step
}

// jobPlan is how the first attempt of a job behaves.
type jobPlan struct {
	shell   string // the variables of testdata/trouble/command.sh
	seconds time.Duration
	exit0   bool
}

// step is one disturbance. It comes some time after a moment of the round: the
// start of the worker, the beginning of a job's command, or its word that it is
// about to exit 0. A moment that does not come brings no disturbance.
type step struct {
	moment string // started, begin N, exit0 N
	delay  time.Duration
	what   string
	victim string         // worker, supervisor or supervisors; "" for what is neither
	signal syscall.Signal // of what sends one
	lasts  time.Duration  // of what is undone again
}

func (s step) String() string {
	text := fmt.Sprintf("%s + %v: %s %s", s.moment, s.delay, s.what, s.victim)
	if s.signal != 0 {
		text += " " + unix.SignalName(s.signal)
	}
	if s.lasts != 0 {
		text += fmt.Sprintf(" for %v", s.lasts)
	}
	return text
}

// What steps do.
const (
	kill      = "kill"
	freeze    = "freeze"
	sendOnce  = "signal"
	sendTwice = "signal twice"
	noReader  = "close the reader of" // the worker's outputs go to nobody
	idle      = "stop the reader of"  // they fill up
	cut       = "network cut"         // connections are reset
	swallow   = "network silent"      // connections stay, and what is sent is lost
	delayed   = "network stalled"     // what is sent comes when the network is back
	jobsEach  = 3                     // jobs of a round, all at work at once
)

// Signals that can be caught, for a worker; its supervisors ignore them all.
var catchable = []syscall.Signal{
	syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGINT, syscall.SIGPIPE, syscall.SIGTSTP,
	syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM,
}

// draw draws from a seed and the number of a round.
type draw struct{ *rand.Rand }

func drawOf(seed uint64, round int) draw { return draw{rand.New(rand.NewPCG(seed, uint64(round)))} }

func (d draw) chance(percent int) bool { return d.IntN(100) < percent }

func (d draw) between(from, to time.Duration) time.Duration {
	return (from + time.Duration(d.Int64N(int64(to-from)))).Round(time.Millisecond / 10)
}

func oneOf[T any](d draw, of ...T) T { return of[d.IntN(len(of))] }

func planOf(seed uint64, round int) plan {
	d := drawOf(seed, round)
	p := plan{side: oneOf(d, "worker", "supervisor")}
	for range jobsEach {
		p.jobs = append(p.jobs, d.job())
	}
	for range 1 + d.IntN(2) {
		p.steps = append(p.steps, d.blow(p))
	}
	for range d.IntN(4) {
		p.steps = append(p.steps, d.nuisance(p))
	}
	if d.chance(35) {
		d.outlast(&p)
	}
	return p
}

// outlast has the first job work until its lease has run out: the worker cannot
// renew it, so its command must be ended before another worker has the job.
func (d draw) outlast(p *plan) {
	s := step{moment: "begin 0", delay: d.between(0, 4*time.Second), lasts: 20 * time.Second}
	if s.what = oneOf(d, cut, swallow, delayed); p.side == "worker" && d.chance(60) {
		s.what, s.victim = freeze, "worker"
	}
	p.jobs[0].shell += "seconds=30\n"
	p.jobs[0].seconds = 30 * time.Second
	p.steps = append(p.steps[:0], s)
	if d.chance(50) {
		p.steps = append(p.steps, d.nuisance(*p))
	}
}

func (d draw) job() jobPlan {
	j := jobPlan{exit0: d.chance(75), seconds: d.between(300*time.Millisecond, 4*time.Second)}
	if d.chance(50) {
		j.seconds = d.between(4*time.Second, 9*time.Second) // beyond heartbeats
	}
	flag := func(percent int) string {
		if d.chance(percent) {
			return "yes"
		}
		return ""
	}
	end := 0
	if !j.exit0 {
		end = 1 + d.IntN(100)
	}
	j.shell = fmt.Sprintf("forks=%d sessions=%d daemons=%d hops=%d deaf=%s quiet=%s talk=%d seconds=%.4f end=%d\n",
		d.IntN(3), d.IntN(2), d.IntN(2), d.IntN(4)/3, flag(50), flag(50), oneOf(d, 0, 1, 10, 4000), j.seconds.Seconds(), end)
	return j
}

// blow kills or freezes the side of the plan, which a kill spares nothing.
func (d draw) blow(p plan) step {
	s := step{what: oneOf(d, kill, kill, freeze), victim: p.side}
	if s.victim == "supervisor" && d.chance(30) {
		s.victim = "supervisors"
	}
	if s.what == freeze {
		s.lasts = d.between(100*time.Millisecond, 4*time.Second)
		if d.chance(60) {
			s.lasts = d.between(4*time.Second, 18*time.Second) // beyond a lease and its grace
		}
	}
	s.moment, s.delay = d.moment(p)
	return s
}

// moment is any, and often one of those at which two things happen together.
func (d draw) moment(p plan) (string, time.Duration) {
	i := d.IntN(jobsEach)
	begin, length := fmt.Sprintf("begin %d", i), p.jobs[i].seconds
	switch n := d.IntN(10); {
	case n == 0:
		return "started", d.between(0, 600*time.Millisecond)
	case n == 1:
		return begin, d.between(0, 30*time.Millisecond)
	case n < 3:
		return begin, length + d.between(-20*time.Millisecond, 40*time.Millisecond)
	case n < 6:
		return fmt.Sprintf("exit0 %d", i), time.Duration(d.Int64N(1 << (10 + d.IntN(14)))) // up to 8 ms, mostly far less
	default:
		return begin, d.between(0, length+time.Second)
	}
}

// nuisance is what must cost nobody anything.
func (d draw) nuisance(p plan) step {
	s := step{}
	s.moment, s.delay = d.moment(p)
	if s.moment == "started" {
		s.moment = "begin 0" // before a worker works it catches no signals
	}
	switch d.IntN(6) {
	case 0, 1:
		s.what, s.victim, s.signal = sendOnce, oneOf(d, "worker", "worker", "supervisors"), oneOf(d, catchable...)
	case 2:
		s.what, s.victim = oneOf(d, noReader, idle), oneOf(d, "stdout", "stderr")
	case 3:
		s.what, s.victim = noReader, "worker"
		if p.side == "worker" { // it dies of it
			s.what, s.signal = sendTwice, syscall.SIGTERM
		}
	default:
		s.what = oneOf(d, cut, swallow, delayed)
		s.lasts = d.between(200*time.Millisecond, 5*time.Second)
		if d.chance(30) {
			s.lasts = d.between(5*time.Second, 18*time.Second)
		}
	}
	return s
}
