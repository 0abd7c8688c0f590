-- name: IdempotencyKeyGet :one
-- What was answered under a key.
select fingerprint, status, body
from idempotency_keys
where owner_id = @owner_id
    and principal = @principal
    and route = @route
    and key = @key;

-- name: IdempotencyKeyInsert :execrows
-- Takes a key; 0 rows if it is taken. Waits for a transaction that is taking it.
insert into idempotency_keys (owner_id, principal, route, key, fingerprint, status, body)
values (@owner_id, @principal, @route, @key, @fingerprint, 0, '')
on conflict (owner_id, principal, route, key) do nothing;

-- name: IdempotencyKeySetAnswer :execrows
-- Stores the answer in the transaction that took the key.
update idempotency_keys
set status = @status, body = @body
where owner_id = @owner_id
    and principal = @principal
    and route = @route
    and key = @key
    and status = 0;
