package work

import (
	"slices"
	"strings"
)

// credentials are variables that no command gets. Each holds a secret of the worker
// or of Stint's database, or the place of one. A command that needs a token or a
// database gets its own under another name.
var credentials = []string{
	"STINT_TOKEN", "STINT_TOKEN_FILE", "STINT_LEASE_TOKEN",
	"STINT_DB", "STINT_DB_LISTEN", "DATABASE_URL", "STINT_TLS_KEY",
	"PGPASSWORD", "PGPASSFILE", "PGSERVICEFILE", "PGSSLKEY", "PGSSLPASSWORD",
}

// ofTheJob are variables that only some jobs have. The command of a job without
// them must not get the worker's instead.
var ofTheJob = []string{"STINT_KEY", "STINT_REPO_ID", "STINT_ISSUE_NUMBER", "TRACEPARENT"}

// inherited is the part of the worker's environment that a command gets. A command
// has no terminal, so Git must not ask on one, unless the environment allows it.
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
