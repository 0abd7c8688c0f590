-- name: TokenHold :one
-- A token that is valid at now. Until this transaction ends it cannot be revoked,
-- so that what is made by it is there for whoever revokes it with all that it made.
select *
from tokens
where id = @id
    and owner_id = @owner_id
    and revoked_at is null
    and (expires_at is null or expires_at > @now)
for share;

-- name: TokenRevokeMade :many
-- Ends what the tokens of a JSON list of ids made. Those that ended before come
-- too: what they made may live. Index tokens_by_maker.
update tokens
set revoked_at = coalesce(revoked_at, @revoked_at)
where owner_id = @owner_id
    and created_by = any(array(select json_array_elements_text(cast(cast(@makers as text) as json))))
returning id, revoked_at;
