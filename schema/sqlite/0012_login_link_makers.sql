-- migrate:up

-- The token or session that made it; null as in tokens. A revocation moves
-- expires_at to its own time: the release before does not know revoked_at.
alter table login_links add column created_by text;
alter table login_links add column revoked_at integer;

-- LoginLinkPage
create index login_links_by_created on login_links (owner_id, created_at, hash);
-- LoginLinkRevokeMade
create index login_links_by_maker on login_links (owner_id, created_by) where used_at is null and revoked_at is null;
-- LoginLinkGet
create index login_links_by_id on login_links (owner_id, hash);

-- migrate:down
drop index login_links_by_id;
drop index login_links_by_maker;
drop index login_links_by_created;
alter table login_links drop column revoked_at;
alter table login_links drop column created_by;
