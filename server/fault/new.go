package fault

import (
	"fmt"
	"strings"
	"time"
)

// Invalid is a body that parses but breaks rules.
func Invalid(items ...Item) *Fault {
	f := New("validation_failed", "The body breaks a rule; errors names each fault.")
	f.Errors = in(InBody, items)
	return f
}

// BadRequest is a fault in path, query or header.
func BadRequest(items ...Item) *Fault {
	f := New("invalid_request", "A parameter breaks a rule; errors names each fault.")
	f.Errors = in(InQuery, items)
	return f
}

// Unparsable is a body that is no JSON text.
func Unparsable(detail string) *Fault {
	f := New("invalid_json", "The body is not one JSON text in UTF-8.")
	f.Errors = []Item{{In: InBody, Detail: detail}}
	return f
}

// InvalidCursor is a cursor that was not made for this list.
func InvalidCursor() *Fault {
	f := New("invalid_cursor", "The cursor was not made for this list, filter and order.")
	f.Errors = []Item{{In: InQuery, Pointer: "/cursor", Detail: "not a cursor of this list"}}
	return f
}

// InvalidSince is a since that was not made for these changes.
func InvalidSince() *Fault {
	f := New("invalid_cursor", "The since was not made for the changes of this stream of this connection.")
	f.Errors = []Item{{In: InQuery, Pointer: "/since", Detail: "not a next_since of these changes"}}
	return f
}

// CursorExpired is a since from which changes cannot be told any more.
func CursorExpired(detail string) *Fault { return New("cursor_expired", detail) }

// Unauthorized is a request without a valid token. It never says which part of
// the token was wrong.
func Unauthorized() *Fault {
	return New("unauthorized", "The request needs a valid token: Authorization: Bearer stint_….")
}

// Forbidden is a token without those scopes: one or more.
func Forbidden(scopes ...string) *Fault {
	noun := "scope"
	if len(scopes) > 1 {
		noun = "scopes"
	}
	f := New("forbidden", "The token lacks the "+noun+" "+strings.Join(scopes, ", ")+".")
	f.Scope = scopes[0]
	return f
}

// CrossOrigin is a change by a session's cookie that another site may have sent.
func CrossOrigin() *Fault {
	return New("cross_origin", "The request does not come from a page of this server, and has no bearer token.")
}

// InsecureLogin is a login over plain HTTP from elsewhere than this machine.
func InsecureLogin() *Fault {
	return New("insecure_login", "Sessions need https, or plain http on the machine of the server itself; a proxy that ends TLS is named by --trusted-proxy.")
}

// LoginLinkInvalid is a link that begins no session. It never says why.
func LoginLinkInvalid() *Fault {
	return New("login_link_invalid", "The login link is unknown, used or too old; stint login makes a new one.")
}

// LinkUsed is the revocation of a link that has begun its session.
func LinkUsed() *Fault {
	return New("state_conflict", "The link was used before: end the session that it began, which is in the list of tokens.").With("state", "used")
}

// NotFound is an id or route that names nothing the caller may see.
func NotFound() *Fault {
	return New("not_found", "There is nothing under this address: no such id, or no such route; /docs lists the routes.")
}

// MethodNotAllowed is a route that exists under other methods.
func MethodNotAllowed() *Fault {
	return New("method_not_allowed", "This address does not take that method; see Allow.")
}

// LeaseLost is a worker's write under a lease that is not its own any more.
func LeaseLost(jobID, state string) *Fault {
	return ofJob("lease_lost", "The lease is not held under this token any more.", jobID, state)
}

// StateConflict is a transition that the job's state forbids.
func StateConflict(jobID, state string) *Fault {
	return ofJob("state_conflict", "The job is "+state+"; that forbids the transition.", jobID, state)
}

// ProposalConflict is a transition that the proposal's state forbids.
func ProposalConflict(proposalID, state string) *Fault {
	return ofProposal("state_conflict", "The proposal is "+state+"; that forbids the transition.", proposalID, state)
}

// HeadInUse is a stream and head of which another proposal is open.
func HeadInUse(proposalID, state string) *Fault {
	return ofProposal("key_in_use", "Another proposal of that stream and head is open: "+proposalID+".", proposalID, state)
}

// KeyInUse is a key that a live job holds.
func KeyInUse(jobID, state string) *Fault {
	return ofJob("key_in_use", "A live job holds the key.", jobID, state)
}

// NameInUse is a name that another repository has, or had.
func NameInUse(repoID string) *Fault {
	return New("name_in_use", "Another repository has that name, or had it: "+repoID+".").With("repo_id", repoID)
}

// TooManyLiveJobs is a repository with more live jobs of issues than one
// transaction renames.
func TooManyLiveJobs(most int64) *Fault {
	return New("too_many_live_jobs", fmt.Sprintf("More than %d issues of the repository have a live job.", most)).
		With("live_jobs", map[string]any{"value": most, "at_least": true})
}

// RunConflict is an end that the run's state forbids.
func RunConflict(runID, state string) *Fault {
	return ofRun("state_conflict", "The run is "+state+"; that forbids the transition.", runID, state)
}

// RunAlreadyActive is a start beside a run whose lease is alive.
func RunAlreadyActive(runID, state string) *Fault {
	return ofRun("run_already_active", "Another run of the connection is running: "+runID+".", runID, state)
}

// RunSuperseded is a generation before the connection's.
func RunSuperseded(runID, state string) *Fault {
	return ofRun("run_superseded", "A later run of the connection was started.", runID, state)
}

// RunNotActive is a write for a run that is not running under that generation.
func RunNotActive(runID, state string) *Fault {
	return ofRun("run_not_active", "The run is not running under that generation; it is "+state+".", runID, state)
}

// ConnectionRevoked is a write to a connection that was revoked.
func ConnectionRevoked(connectionID string) *Fault {
	return New("connection_revoked", "The connection was revoked.").With("connection_id", connectionID)
}

// RefreshUnderWay is a full refresh of a stream whose last one is not over: what it
// did not see is being removed.
func RefreshUnderWay(connectionID string) *Fault {
	return New("state_conflict", "What the last full refresh of a stream did not see is still being removed.").
		With("connection_id", connectionID).With("state", "removing").After(5 * time.Second)
}

// OlderReplica is a change that replicas of an older release would not heed.
func OlderReplica() *Fault {
	return New("older_replica", "A replica of an older release serves this database, and knows no old names of repositories: bring every replica to this release, then repeat.").
		After(10 * time.Second)
}

// PreconditionFailed is an If-Match that names another version.
func PreconditionFailed() *Fault {
	return New("precondition_failed", "If-Match does not name the current version.")
}

// PreconditionRequired is a change without If-Match where it is required.
func PreconditionRequired() *Fault {
	return New("precondition_required", "The request needs If-Match with the version it was made from.")
}

// TooLarge is a body over the route's bound, in bytes.
func TooLarge(limit int64) *Fault {
	return New("body_too_large", "The body is larger than this route takes.").With("limit_bytes", limit)
}

// UnsupportedMedia is a content type or encoding that is not taken.
func UnsupportedMedia(detail string) *Fault { return New("unsupported_media_type", detail) }

// BodyTimeout is a body that did not arrive in time.
func BodyTimeout() *Fault { return New("request_timeout", "The body did not arrive in time.") }

// IdempotencyInFlight is a key whose first request has not ended.
func IdempotencyInFlight() *Fault {
	return New("idempotency_in_flight", "The first request with this Idempotency-Key has not ended.").
		After(time.Second)
}

// IdempotencyKeyReused is a key that stands for another request.
func IdempotencyKeyReused() *Fault {
	return New("idempotency_key_reused", "This Idempotency-Key was used for another request.")
}

// IdempotencyUnsupported is a key on a route that keeps no answers.
func IdempotencyUnsupported() *Fault {
	return New("idempotency_unsupported", "This route takes no Idempotency-Key.")
}

// Unavailable is a database that cannot be reached or is overloaded.
func Unavailable(detail string) *Fault { return New("unavailable", detail).After(time.Second) }

// CommitUnknown is a connection lost while COMMIT ran.
func CommitUnknown() *Fault {
	return New("commit_unknown", "The connection was lost while the change was committed; it may have taken effect.").
		After(time.Second)
}

// Draining is a replica that is stopping.
func Draining() *Fault { return New("draining", "This replica is stopping.").After(time.Second) }

// Internal is a fault of the server.
func Internal(cause error) *Fault {
	return New("internal", "The server failed; its log has more under this request_id.").Because(cause)
}

func ofJob(code, detail, jobID, state string) *Fault {
	return New(code, detail).With("job_id", jobID).With("state", state)
}

func ofRun(code, detail, runID, state string) *Fault {
	return New(code, detail).With("run_id", runID).With("state", state)
}

func ofProposal(code, detail, proposalID, state string) *Fault {
	return New(code, detail).With("proposal_id", proposalID).With("state", state)
}

// in names the place of the items that name none.
func in(place string, items []Item) []Item {
	for i := range items {
		if items[i].In == "" {
			items[i].In = place
		}
	}
	return items
}
