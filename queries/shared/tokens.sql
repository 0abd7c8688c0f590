-- name: TokenGet :one
-- One token of an owner.
select *
from tokens
where id = @id
    and owner_id = @owner_id;

-- name: TokenGetByHash :one
-- The token of that SHA-256 (hex), with the name of its owner.
select t.id, t.owner_id, t.name, t.hash, t.scopes, t.expires_at, t.revoked_at, t.kind, o.name as owner_name
from tokens t
join owners o on o.id = t.owner_id
where t.hash = @hash;

-- name: TokenInsert :exec
-- Keeps a new token; its text is never stored.
insert into tokens (id, owner_id, name, hash, scopes, created_at, expires_at, kind, created_by)
values (@id, @owner_id, @name, @hash, @scopes, @created_at, @expires_at, @kind, @created_by);

-- name: TokenPage :many
-- The tokens, newest first. Index tokens_by_created.
select *
from tokens
where owner_id = @owner_id
    and (created_at, id) < (@before_at, coalesce(cast(@before_id as text), ''))
order by created_at desc, id desc
limit cast(@max as bigint);

-- name: TokenRevoke :execrows
-- Ends a token; 0 rows if it is unknown or ended before.
update tokens
set revoked_at = @revoked_at
where id = @id
    and owner_id = @owner_id
    and revoked_at is null;

-- name: TokenSetLastUsed :execrows
-- Notes when a token was last seen; never moves the note back.
update tokens
set last_used_at = @last_used_at
where id = @id
    and (last_used_at is null or last_used_at < @last_used_at);

-- name: TokenSweepSessions :execrows
-- Removes sessions that ended before cutoff, the oldest first; tokens stay.
-- Index tokens_sessions_by_expiry.
delete from tokens
where id in (
    select t.id
    from tokens t
    where t.kind = 'session'
        and t.expires_at < @cutoff
    order by t.expires_at
    limit cast(@max as bigint)
);
