package fault

// Code is what a client may rely on about a fault's code. The page
// /problems/{code} is made from it.
type Code struct {
	Code      string
	Status    int
	Title     string
	Means     string
	Do        string
	Retryable bool
}

// Codes lists every code there is, by status.
var Codes = []Code{
	{"invalid_request", 400, "Invalid request",
		"A part of the path, the query or a header breaks a rule. A body that breaks rules besides is reported in the same answer.",
		"Correct what errors names. Repeating the request cannot help.", false},
	{"invalid_json", 400, "Body is not JSON",
		"The body is empty, is not one JSON text, is not UTF-8, begins with a byte order mark, or is followed by more text.",
		"Send exactly one JSON text in UTF-8.", false},
	{"invalid_cursor", 400, "Invalid cursor",
		"A cursor belongs to one owner, list, filter and order; this one was made for another, or was changed.",
		"Begin again without a cursor, and pass next_cursor on as it is, with the same filter.", false},
	{"idempotency_unsupported", 400, "Idempotency-Key not supported",
		"The route keeps no answers, because they hold a secret or are a stream.",
		"Send the request without Idempotency-Key.", false},
	{"unauthorized", 401, "Not authorised",
		"The request has no token, more than one, or one that is unknown, expired or revoked.",
		"Send one header Authorization: Bearer with a valid token.", false},
	{"forbidden", 403, "Scope missing",
		"The token is valid but lacks the scope that required_scope names.",
		"Use a token with that scope.", false},
	{"cross_origin", 403, "Another site asks",
		"The request is authenticated by the cookie of a session, or begins or ends one, and does not come from a page of this server: neither Sec-Fetch-Site: same-origin nor an Origin that is the server's own, or one that contradicts.",
		"Send it from a page of this server, or with a bearer token. Behind a proxy, see that it passes the Host header on and is named by --trusted-proxy.", false},
	{"insecure_login", 403, "Login needs TLS",
		"The request came over plain HTTP from elsewhere than this machine, or through a proxy that is not trusted: a session's cookie could be read on the way.",
		"Use https, or sign in on the machine of the server by http://127.0.0.1. Behind a proxy that ends TLS, name it with --trusted-proxy.", false},
	{"login_link_invalid", 403, "Login link not valid",
		"The link is unknown, was used before, or is too old; which, is not said.",
		"Make a new one with stint login.", false},
	{"not_found", 404, "Not found",
		"Nothing the caller may see is under this address: the id is unknown, malformed or another owner's, or the route does not exist.",
		"Check the address. Addresses have no trailing and no double slash.", false},
	{"method_not_allowed", 405, "Method not allowed",
		"The address exists, with other methods.", "Use a method that the Allow header names.", false},
	{"request_timeout", 408, "Body too slow",
		"The body did not arrive within the time the route gives it.",
		"Send it again over a better connection, or in smaller parts.", true},
	{"lease_lost", 409, "Lease lost",
		"The lease token is not the current one: the lease ran out and was taken back, or the job was finished by another worker. Nothing was changed.",
		"Stop working on the job. state says how it stands.", false},
	{"state_conflict", 409, "State forbids it",
		"The state that the row has now forbids the transition. Nothing was changed.",
		"Read the row and decide again.", false},
	{"key_in_use", 409, "Key in use",
		"A live job holds the key, or an open proposal the stream and head; job_id or proposal_id names it.",
		"Wait for that job, or use another key. Close that proposal first, or work on with it.", false},
	{"name_in_use", 409, "Name in use",
		"Another repository of the owner has the name, or had it; repo_id names it. Nothing was changed.",
		"Use that repository, or give it a name of its own first.", false},
	{"too_many_live_jobs", 409, "Too many live jobs",
		"More issues of the repository have a live job than one transaction gives another key. Nothing was changed.",
		"Repeat it when fewer are live: cancel some, or let workers finish them.", false},
	{"ambiguous", 409, "Several are meant",
		"The selector is the id of a connector that has several connections; connections tells how many. Nothing was changed.",
		"Name the connection by its own id.", false},
	{"connection_deleted", 409, "Source was deleted",
		"The owner deleted the connection of this source; connection_id names it. Nothing was changed.",
		"To connect the source anew, without its old records, send replace_deleted.", false},
	{"older_replica", 409, "An older replica serves",
		"A replica of an older release uses the database, and would track a renamed repository anew. Nothing was changed.",
		"Bring every replica to this release, and repeat it.", true},
	{"run_already_active", 409, "A run is active",
		"The connection has a running run, run_id, whose lease is alive. It was left as it is.",
		"Wait until it ends, or until its lease runs out.", false},
	{"run_superseded", 409, "A later run was started",
		"The generation is older than the connection's: another run took over after the lease of this one had run out. Nothing was changed.",
		"Stop: the later run does the work.", false},
	{"run_not_active", 409, "Run has ended",
		"The run that the write names is not running, or its generation is another. Nothing was written.",
		"Stop writing for that run.", false},
	{"connection_revoked", 409, "Connection revoked",
		"The connection was revoked: it takes no records and no runs.",
		"Make another connection, with a binding key of its own.", false},
	{"idempotency_in_flight", 409, "First request still running",
		"A request with this Idempotency-Key is running.",
		"Repeat it after Retry-After; it then gets the first one's answer.", true},
	{"precondition_failed", 412, "Version differs",
		"If-Match names a version that is not current. Nothing was changed.",
		"Read the resource, and repeat the change from its present version.", false},
	{"body_too_large", 413, "Body too large",
		"The body, after decompression, is larger than limit_bytes.", "Send less at once.", false},
	{"unsupported_media_type", 415, "Media type not supported",
		"Bodies are application/json in UTF-8, or application/x-ndjson where a route takes lines, either plain or compressed once with gzip.",
		"Set the Content-Type that the detail names, and Content-Encoding to gzip or not at all.", false},
	{"validation_failed", 422, "Validation failed",
		"The body is JSON but breaks rules: an unknown, repeated or missing member, a wrong type, a bound.",
		"Correct what errors names; pointer leads to each place. Repeating the request cannot help.", false},
	{"idempotency_key_reused", 422, "Idempotency-Key reused",
		"The key stands for a request with another path, query or body.",
		"Use a new key for a new request.", false},
	{"precondition_required", 428, "If-Match required",
		"The change needs If-Match, so that it cannot overwrite a change it has not seen.",
		"Read the resource and send its ETag as If-Match.", false},
	{"internal", 500, "Internal error",
		"The server failed in a way it does not know. Its log has one line with the request_id.",
		"Report the request_id to whoever runs the server.", false},
	{"unavailable", 503, "Unavailable",
		"The database cannot be reached or is overloaded. Nothing was changed.",
		"Repeat the request after Retry-After.", true},
	{"commit_unknown", 503, "Outcome unknown",
		"The connection to the database was lost while the change was committed: it has either taken effect in full or not at all.",
		"Repeat the request with the same Idempotency-Key; without one, read the resource first.", true},
	{"draining", 503, "Stopping",
		"This replica is stopping and takes no new work.",
		"Repeat the request after Retry-After; another replica takes it.", true},
}

// Lookup finds a code.
func Lookup(code string) (Code, bool) {
	for _, c := range Codes {
		if c.Code == code {
			return c, true
		}
	}
	return Code{}, false
}
