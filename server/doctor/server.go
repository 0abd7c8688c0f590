package doctor

import (
	"cmp"
	"fmt"
	"strings"
)

// Server is what a running server says of itself in /readyz?verbose.
type Server struct {
	URL      string
	Named    bool // by a person; else it is the address where one usually is
	Answered bool
	Ready    bool
	Other    bool   // what answers is not a Stint server
	Detail   string // why it does not answer, or is not ready
	Advice   string // what to do if it does not answer; "": start it
	Replica  struct {
		Engine string `json:"engine"`
		Pool   struct {
			Max    int   `json:"max"`
			InUse  int   `json:"in_use"`
			Waited int64 `json:"waited"`
		} `json:"pool"`
		Loops []struct {
			Name     string `json:"name"`
			OK       bool   `json:"ok"`
			Failures int64  `json:"failures"`
		} `json:"loops"`
	}
}

// server judges the server that was asked. One that nobody named may be away: doctor
// works on the database.
func (e *exam) server() {
	s := e.Server
	switch {
	case !s.Answered && s.Named:
		detail := "no answer from " + s.URL + ": " + s.Detail
		if s.Other {
			detail = "what answers at " + s.URL + " is not a Stint server"
		}
		e.add(Check{ID: "server", State: Fail, Value: "away", Detail: detail, Advice: cmp.Or(s.Advice, "start it, or name another with --server")})
		return
	case !s.Answered:
		e.add(Check{ID: "server", State: Unknown, Detail: "no server answers at " + s.URL, Advice: "name one with --server to have it looked at too"})
		return
	case s.Replica.Engine != "" && s.Replica.Engine != e.Engine:
		e.add(Check{ID: "server", State: Unknown, Value: s.Replica.Engine, Detail: "the server at " + s.URL + " works on another database", Advice: "name the server of this database with --server"})
		return
	case !s.Ready:
		e.add(Check{ID: "server", State: Fail, Value: "not ready", Detail: s.URL + ": " + s.Detail, Advice: "look at what it names, and at the server's log"})
	default:
		e.add(Check{ID: "server", State: OK, Value: "ready", Detail: s.URL + " is ready"})
	}
	e.loops()
}

func (e *exam) loops() {
	if e.Server.Replica.Engine == "" { // absent, while the server starts
		e.add(Check{ID: "loops", State: Unknown, Unit: "loops", Detail: "not measured: the server tells nothing of its loops yet", Advice: "run doctor again when the server is ready"})
		return
	}
	var failing []string
	for _, l := range e.Server.Replica.Loops {
		if !l.OK {
			failing = append(failing, fmt.Sprintf("%s (%d in a row)", l.Name, l.Failures))
		}
	}
	c := Check{ID: "loops", State: OK, Value: len(failing), Unit: "loops", Detail: "the last pass of every background loop succeeded"}
	if len(failing) > 0 {
		c.State, c.Detail, c.Advice = Warn, "failing: "+strings.Join(failing, ", "), "the server's log has the cause"
	}
	e.add(c)
}
