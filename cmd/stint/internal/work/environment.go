package work

import (
	"slices"
	"strings"
)

// credentials are the variables that hold a secret of the worker or of Stint's
// database, or say where one is. A command that needs a token or a database has
// its own, under another name.
var credentials = []string{
	"STINT_TOKEN", "STINT_TOKEN_FILE", "STINT_LEASE_TOKEN",
	"STINT_DB", "DATABASE_URL", "STINT_TLS_KEY",
	"PGPASSWORD", "PGPASSFILE", "PGSERVICEFILE", "PGSSLKEY", "PGSSLPASSWORD",
}

// ofTheJob are the variables of which those of the worker's environment would
// not be the job's.
var ofTheJob = []string{"STINT_KEY", "STINT_REPO_ID", "STINT_ISSUE_NUMBER", "TRACEPARENT"}

// inherited is what a command gets of the worker's own environment. Git must not
// wait for an answer on a terminal, unless the environment says otherwise: a
// command has none.
func inherited(own []string) []string {
	env := slices.DeleteFunc(own, func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(credentials, name) || slices.Contains(ofTheJob, name)
	})
	if slices.ContainsFunc(env, func(pair string) bool { return strings.HasPrefix(pair, "GIT_TERMINAL_PROMPT=") }) {
		return env
	}
	return append(env, "GIT_TERMINAL_PROMPT=0")
}
