package conformance

import (
	"fmt"
	"time"
)

// Rule is something that a worker must do or leave.
type Rule struct {
	Name string
	Why  string // one line
	script
	assess func(t *tape) finding
	// unsure is set if a worker that is only late looks like one to which the rule
	// does not apply. Then "not checked" is tried again as well as broken.
	unsure bool
}

// script is what the server does under a rule.
type script struct {
	jobs  []Instructions
	lease time.Duration // 0: usualLease
	limit time.Duration // time limit of each job; 0: none

	// plan says how to treat a call otherwise than the API does. It may change jobs.
	plan func(t *tape, c *call) plan
	// term tells that it is time for SIGTERM.
	term func(t *tape) bool
	// ready tells whether jobs are there to be claimed; nil: always.
	ready func(t *tape) bool
	// over tells that enough was seen; nil: every job is finished.
	over func(t *tape) bool
	// linger is how long to look on after that, for what should not come.
	linger time.Duration
	most   time.Duration // of all
}

// plan is how one call is treated. The zero value is: as the API does it.
type plan struct {
	code       string // of a problem, in place of any effect
	status     int    // of it; 0: the one that belongs to the code
	retryAfter int    // seconds
	reset      bool   // the connection is reset, without any effect
	lost       bool   // the connection is reset, after the effect
	hang       bool   // no answer, and no effect
	late       time.Duration
	directive  string
	newMembers bool // add members that the API does not have yet
	empty      bool // a claim finds nothing, at once
	again      bool // a claim is answered as the last one with a job was
}

// State of a verdict.
const (
	OK         = "ok"
	Broken     = "broken"
	NotChecked = "not checked"
)

type finding struct{ state, seen string }

func kept(format string, args ...any) finding { return finding{OK, fmt.Sprintf(format, args...)} }
func broken(format string, args ...any) finding {
	return finding{Broken, fmt.Sprintf(format, args...)}
}
func unchecked(format string, args ...any) finding {
	return finding{NotChecked, fmt.Sprintf(format, args...)}
}

// Rules are all rules, in the order in which they are told.
func Rules() []Rule {
	all := []Rule{
		authRule(), contentTypeRule(), validRequestsRule(), toleratesNewMembersRule(),
		retryAfterRule(), serverAwayRule(), heartbeatsInTimeRule(), heartbeatTroubleRule(),
		leaseLostStopsRule(), noWorkAfterLeaseEndRule(), timeoutRule(), timeoutAfterWaitRule(), cancelObeyedRule(),
		drainRule(), reportRepeatedRule(), reportNotRepeatedRule(), noReportAfter409Rule(),
		logRefusedRule(), endsEveryJobRule(), resultKeptRule(), resultRefusedRule(),
		claimRepeatedRule(), lateClaimRule(), duplicateAnswerRule(), emptyClaimRule(),
		claimRefusedRule(), stopRule(), stopWaitingRule(),
	}
	for i := range all {
		if all[i].lease == 0 {
			all[i].lease = usualLease
		}
		if all[i].most == 0 {
			all[i].most = 15 * time.Second
		}
		if all[i].plan == nil {
			all[i].plan = func(*tape, *call) plan { return plan{} }
		}
		if all[i].over == nil {
			all[i].over = (*tape).done
		}
	}
	return all
}
