package work

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/stint-run/stint/cmd/stint/internal/outcome"
	"github.com/stint-run/stint/cmd/stint/internal/supervise"
)

// process is a running command and where its output goes.
type process struct {
	*supervise.Command
	handover       outcome.Handover
	stdout, stderr *lines
	appends        *appends
}

// start starts the command for the job, under the lease as it is known.
func (a *attempt) start() (*process, error) {
	var prefix []byte
	if a.Concurrency > 1 {
		prefix = []byte("[" + a.job.ID + "] ")
	}
	printed := &transcript{max: a.LogBytes}
	p := &process{
		handover: a.handover(),
		stdout:   &lines{to: a.Stdout, prefix: prefix},
		stderr:   &lines{to: a.Stderr, prefix: prefix},
		appends:  a.appends(printed),
	}
	var err error
	p.Command, err = a.commands.Start(supervise.Job{
		Name: a.job.ID, Path: a.Command[0], Args: a.Command,
		Env: a.environment(os.Environ()), Stdin: stdinOf(a.job.raw),
		Until: a.lease.until(), Handover: p.handover.Encode(),
	}, io.MultiWriter(printed, p.stdout), io.MultiWriter(printed, p.stderr))
	if err != nil {
		return nil, fmt.Errorf("start the command: %w", err)
	}
	return p, nil
}

// handover is what the supervisor must know if the worker dies.
func (a *attempt) handover() outcome.Handover {
	return outcome.Handover{
		Files: a.files, Exits: a.Exits,
		JobID: a.job.ID, LeaseToken: a.job.LeaseToken, Lease: a.lease.renewal(),
		Server: a.Server, Token: a.Token, CAFile: a.CAFile, Version: a.Version,
	}
}

// stdinOf is the job as one line, without what proves the lease.
func stdinOf(raw json.RawMessage) []byte {
	var job map[string]json.RawMessage
	if err := json.Unmarshal(raw, &job); err != nil {
		panic(err) // it was decoded before
	}
	delete(job, "lease_token")
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(job); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// environment is the worker's own, without its secrets and with the job's.
func (a *attempt) environment(own []string) []string {
	j := a.job
	env := inherited(own)
	add := func(name, value string) { env = append(env, name+"="+value) }
	add("STINT_JOB_ID", j.ID)
	add("STINT_RUN_ID", j.RunID)
	add("STINT_KIND", j.Kind)
	add("STINT_ATTEMPT", strconv.FormatInt(j.Attempt, 10))
	add("STINT_MAX_ATTEMPTS", strconv.FormatInt(j.MaxAttempts, 10))
	add("STINT_WORKER", a.Worker)
	add("STINT_SERVER", a.Server)
	for name, value := range map[string]*string{"STINT_KEY": j.Key, "STINT_REPO_ID": j.RepoID, "TRACEPARENT": j.Traceparent} {
		if value != nil {
			add(name, *value)
		}
	}
	if j.IssueNumber != nil {
		add("STINT_ISSUE_NUMBER", strconv.FormatInt(*j.IssueNumber, 10))
	}
	return append(env, a.files.Env()...)
}
