-- name: RepoGet :one
-- One repository of an owner.
select *
from repos
where id = @id
    and owner_id = @owner_id;

-- name: RepoGetCounted :one
-- One repository of an owner, with how many proposals it has in each state, up
-- to counted. An index of proposals by repo and state.
select
    sqlc.embed(r),
    cast((select count(*) from (select p.id from proposals p where p.repo_id = r.id and p.state = 'open' limit cast(@counted as bigint)) c) as bigint) as open_proposals,
    cast((select count(*) from (select p.id from proposals p where p.repo_id = r.id and p.state = 'merged' limit cast(@counted as bigint)) c) as bigint) as merged_proposals,
    cast((select count(*) from (select p.id from proposals p where p.repo_id = r.id and p.state = 'closed' limit cast(@counted as bigint)) c) as bigint) as closed_proposals
from repos r
where r.id = @id
    and r.owner_id = @owner_id;

-- name: RepoInsert :execrows
-- Tracks a repository; 0 rows if it is tracked, however it is spelled. It returns
-- no row: then SQLite would look through the tables that refer to this one.
insert into repos (id, owner_id, forge, host, namespace, name, default_stream, created_at, updated_at)
values (@id, @owner_id, @forge, @host, @namespace, @name, sqlc.narg(default_stream), @created_at, @created_at)
on conflict do nothing;

-- name: RepoPage :many
-- The repositories, newest first. Index repos_by_created.
select *
from repos
where owner_id = @owner_id
    and (created_at, id) < (@before_at, coalesce(cast(@before_id as text), ''))
order by created_at desc, id desc
limit cast(@max as bigint);

-- name: RepoPageByName :many
-- Those of that namespace/name in any case, on any forge and host. Index repos_by_name.
select *
from repos
where owner_id = @owner_id
    and lower(namespace || '/' || name) = lower(cast(@full_name as text))
    and (created_at, id) < (@before_at, coalesce(cast(@before_id as text), ''))
order by created_at desc, id desc
limit cast(@max as bigint);

-- name: RepoRename :one
-- Gives a repository another name.
update repos
set forge = @forge,
    host = @host,
    namespace = @namespace,
    name = @name,
    updated_at = @updated_at
where id = @id
    and owner_id = @owner_id
returning *;

-- name: RepoSetDefaultStream :one
-- Gives a repository another default stream.
update repos
set default_stream = @default_stream,
    updated_at = @updated_at
where id = @id
    and owner_id = @owner_id
returning *;
