-- name: LoginLinkInsert :exec
-- Keeps a new link; its secret is never stored.
insert into login_links (hash, owner_id, name, scopes, session_seconds, created_at, expires_at)
values (@hash, @owner_id, @name, @scopes, @session_seconds, @created_at, @expires_at);

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
-- end that one can have. Of two that come at
-- once the second waits, and then finds used_at set.
update login_links
set used_at = @now
where hash = @hash
    and used_at is null
    and expires_at > @now
    and expires_at <= @latest
returning owner_id, name, scopes, session_seconds;
