-- name: TokenHold :one
-- A token that is valid at now. Until this transaction ends it cannot be revoked,
-- so that what is made by it is there for whoever revokes it with all that it made.
select *
from tokens
where id = @id
    and owner_id = @owner_id
    and revoked_at is null
    and (expires_at is null or expires_at > @now);

-- name: TokenListMade :many
-- The ids of what the tokens of a JSON list of ids made. Index tokens_by_maker.
select id
from tokens
where owner_id = @owner_id
    and created_by in (select t.value from json_each(cast(@makers as text)) t);

-- name: TokenRevokeMade :many
-- Ends what the tokens of a JSON list of ids made. Those that ended before come
-- too: what they made may live. PostgreSQL locks the rows in the order of ids, as the
-- writer of last_used_at does: so the two cannot deadlock. Index tokens_by_maker.
update tokens
set revoked_at = coalesce(revoked_at, @revoked_at)
where owner_id = @owner_id
    and created_by in (select t.value from json_each(cast(@makers as text)) t)
returning id, revoked_at;
