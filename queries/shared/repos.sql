-- name: RepoGetByName :one
-- The repository of that name; case does not count in namespace and name.
-- Index repos_identity.
select id, owner_id, forge, host, namespace, name, default_stream, labels_synced_at, created_at, updated_at
from repos
where owner_id = @owner_id
    and forge = @forge
    and host = @host
    and lower(namespace) = lower(cast(@namespace as text))
    and lower(name) = lower(cast(@name as text));

-- name: RepoInsert :execrows
-- Tracks a repository; 0 rows if it is tracked, however it is spelled.
insert into repos (id, owner_id, forge, host, namespace, name, created_at, updated_at)
values (@id, @owner_id, @forge, @host, @namespace, @name, @created_at, @created_at)
on conflict do nothing;
