// Package conformance tells which rules of the API a worker breaks.
//
// Each rule has a script: a server on loopback that knows a few jobs, answers as
// the real one does, and in one place makes the trouble that the rule is about. A
// worker of its own is started for it, so rules are independent of each other and
// run side by side. What arrives is recorded on a tape: requests, answers, and
// when the work on a job began and ended. The verdict is a function of the tape.
//
// The work on a job is a program of ours, which does what the job's payload says
// (Instructions) and holds a connection to us open meanwhile. The kernel closes it
// when the program ends, however that comes about: so the tape knows when work
// stopped, also that of a program that was killed, and finds what was left behind.
//
// Leases last four seconds here, less than a worker can ask for. That is within
// the contract: the answer says until when a lease is held, whatever was asked
// for, and near a time limit the real server grants short ones as well.
package conformance
