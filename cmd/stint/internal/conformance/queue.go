package conformance

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/stint-run/stint/gen/client"
)

const (
	// kind is what {kind} stands for.
	kind = "conformance"
	// usualLease is how long leases last unless a rule says otherwise.
	usualLease = 4 * time.Second
	// spare is how long after its end a lease is left alone, as by the real server.
	spare = 5 * time.Second
	// pollAfter is what an empty answer asks for.
	pollAfter = time.Second
)

// job is a job of the scripted server. It has one attempt, so that whatever goes
// wrong ends it; only one that is given back is handed out again.
type job struct {
	id, run, work string
	payload       json.RawMessage
	seconds       float64 // that the work takes

	state    string // pending, claimed, succeeded, failed, cancelled
	token    string // of the last lease
	began    time.Time
	expires  time.Time
	deadline time.Time         // zero: none
	taken    bool              // by somebody else: the lease is lost
	cancel   bool              // asked for
	ended    map[string]string // the action that each token made
}

func newJob(watch string, in Instructions) *job {
	id := rand.Text()
	in.Watch, in.Work = watch, id
	payload, err := json.Marshal(in)
	if err != nil {
		panic(err)
	}
	return &job{
		id: "job_" + id, run: "run_" + id, work: id, payload: payload, seconds: in.Seconds,
		state: "pending", ended: map[string]string{},
	}
}

// claim begins a lease.
func (j *job) claim(now time.Time, lease, limit time.Duration) {
	j.state, j.token = "claimed", rand.Text()+"."+j.id
	j.began, j.expires = now, now.Add(lease)
	if limit > 0 {
		j.deadline = now.Add(limit)
	}
	j.cap()
}

// cap ends the lease at the time limit, whoever renews it.
func (j *job) cap() {
	if !j.deadline.IsZero() && j.expires.After(j.deadline) {
		j.expires = j.deadline
	}
}

// held tells whether the token is of the present lease.
func (j *job) held(token string, now time.Time) bool {
	if j.state == "claimed" && now.After(j.expires.Add(spare)) {
		j.state = "failed"
	}
	return j.state == "claimed" && !j.taken && token == j.token
}

// late tells whether the time limit has passed: no heartbeat is taken then.
func (j *job) late(now time.Time) bool { return !j.deadline.IsZero() && !now.Before(j.deadline) }

// finish ends the lease. It returns the code of the problem if it may not.
func (j *job) finish(action, token string, now time.Time) (code string) {
	switch before := j.ended[token]; {
	case before == action:
		return ""
	case before != "":
		return "state_conflict"
	case !j.held(token, now):
		return "lease_lost"
	}
	j.ended[token] = action
	switch {
	case action == "complete":
		j.state = "succeeded"
	case j.cancel:
		j.state = "cancelled"
	case action == "fail":
		j.state = "failed"
	default:
		j.state = "pending"
	}
	return ""
}

// over tells whether a finish of the worker has ended the last lease.
func (j *job) over() bool { return j.ended[j.token] != "" }

// timeText is a time as the API writes it.
func timeText(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000Z")
}

// shape is an object with all members of a type of the API.
func shape(v any) (m map[string]any) {
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		panic(err) // the types are the client's
	}
	return m
}

// members are the job as answers show it.
func (j *job) members(of any) map[string]any {
	m := shape(of)
	maps.Copy(m, map[string]any{
		"id": j.id, "kind": kind, "state": j.state, "payload": j.payload, "priority": 3,
		"attempt": 1, "max_attempts": 1, "omitted": []string{}, "again": nil, "result": nil, "error": nil,
		"run_at": timeText(j.began), "created_at": timeText(j.began), "updated_at": timeText(j.began),
	})
	return m
}

// claimed is the job as a claim's answer shows it.
func (j *job) claimed(worker string) map[string]any {
	m := j.members(client.Claimed{})
	m["claimed_by"], m["lease_token"], m["run_id"] = worker, j.token, j.run
	m["lease_expires_at"], m["deadline_at"] = timeText(j.expires), timeText(j.deadline)
	return m
}

// renewed is the answer to a heartbeat.
func (j *job) renewed(directive string, now time.Time) map[string]any {
	m := shape(client.HeartbeatAnswer{})
	m["lease_expires_at"], m["directive"] = timeText(j.expires), directive
	m["deadline_at"], m["now"] = timeText(j.deadline), timeText(now)
	return m
}

// logged is the answer to a log append.
func (j *job) logged(seq any) map[string]any {
	m := shape(client.LogAnswer{})
	m["run_id"], m["seq"] = j.run, seq
	return m
}

// finished is the answer to a finish.
func (j *job) finished(action string) map[string]any {
	status := map[string]string{"complete": "succeeded", "fail": "failed"}[action]
	if status == "" {
		status = "cancelled"
	}
	m := j.members(client.Job{})
	run := shape(client.Ended{})
	run["id"], run["attempt"], run["status"] = j.run, 1, status
	return map[string]any{"job": m, "run": run}
}

// String is the job in a verdict.
func (j *job) String() string { return fmt.Sprintf("job %s", j.id[:8]) }
