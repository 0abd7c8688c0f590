-- name: LoginLinkRevokeMade :execrows
-- Ends the links that the tokens of a JSON list of ids made and nobody has used.
-- Index login_links_by_maker.
update login_links
set revoked_at = @now, expires_at = case when expires_at < @now then expires_at else @now end
where owner_id = @owner_id
    and created_by in (select t.value from json_each(cast(@makers as text)) t)
    and used_at is null
    and revoked_at is null;
