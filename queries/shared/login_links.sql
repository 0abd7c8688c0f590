-- name: LoginLinkGet :one
-- One link of an owner, by the beginning of its hash. Index
-- login_links_by_id.
select *
from login_links
where owner_id = @owner_id
    and hash > @after_hash
    and hash < @before_hash
order by hash
limit 1;

-- name: LoginLinkInsert :exec
-- Keeps a new link; its secret is never stored.
insert into login_links (hash, owner_id, name, scopes, session_seconds, created_at, expires_at, created_by)
values (@hash, @owner_id, @name, @scopes, @session_seconds, @created_at, @expires_at, @created_by);

-- name: LoginLinkMaker :one
-- Who made a link, and what ended it. Primary key.
select owner_id, created_by, expires_at, used_at, revoked_at
from login_links
where hash = @hash;

-- name: LoginLinkPage :many
-- The links that were not swept, newest first. Index login_links_by_created.
select *
from login_links
where owner_id = @owner_id
    and (created_at, hash) < (@before_at, coalesce(cast(@before_hash as text), ''))
order by created_at desc, hash desc
limit cast(@max as bigint);

-- name: LoginLinkRevoke :execrows
-- Ends a link that nobody has used; 0 rows if it is used, or over.
update login_links
set revoked_at = @now, expires_at = @now
where hash = @hash
    and owner_id = @owner_id
    and used_at is null
    and expires_at > @now;

-- name: LoginLinkSweep :execrows
-- Removes links that ended before cutoff, used or not, the oldest first. Index
-- login_links_by_expiry.
delete from login_links
where hash in (
    select l.hash
    from login_links l
    where l.expires_at < @cutoff
    order by l.expires_at
    limit cast(@max as bigint)
);

-- name: LoginLinkUse :one
-- Uses a link up; no row if it is unknown, used or over, or ends after the latest
-- end that one can have. Of two that come at once the second waits, and then finds
-- used_at set. The clock that a revocation wrote may be ahead of this one, so
-- expires_at alone does not tell of it.
update login_links
set used_at = @now
where hash = @hash
    and used_at is null
    and revoked_at is null
    and expires_at > @now
    and expires_at <= @latest
returning owner_id, name, scopes, session_seconds;
