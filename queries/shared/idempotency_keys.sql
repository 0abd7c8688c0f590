-- name: IdempotencyKeyGet :one
-- What was answered under a key.
select fingerprint, status, body, created_at, if_match, etag
from idempotency_keys
where owner_id = @owner_id
    and principal = @principal
    and route = @route
    and key = @key;

-- name: IdempotencyKeyInsert :execrows
-- Takes a key; 0 rows if it is taken. Waits for a transaction that is taking it.
insert into idempotency_keys (owner_id, principal, route, key, fingerprint, if_match, status, body, created_at)
values (@owner_id, @principal, @route, @key, @fingerprint, cast(@if_match as text), 0, '', @now)
on conflict (owner_id, principal, route, key) do nothing;

-- name: IdempotencyKeySetAnswer :execrows
-- Stores the answer in the transaction that took the key.
update idempotency_keys
set status = @status, body = @body, etag = sqlc.narg(etag)
where owner_id = @owner_id
    and principal = @principal
    and route = @route
    and key = @key
    and status = 0;

-- name: IdempotencyKeyTakeOver :execrows
-- Takes a key whose record expired, for a new request. The date is the fence:
-- of several who find the record expired one gets it, and a sweep that comes
-- after that leaves it alone.
update idempotency_keys
set fingerprint = @fingerprint,
    if_match = cast(@if_match as text),
    status = 0,
    body = '',
    etag = null,
    created_at = @now
where owner_id = @owner_id
    and principal = @principal
    and route = @route
    and key = @key
    and created_at <= @cutoff;
