-- name: RepoNameDelete :execrows
-- Takes an old name away from a repository: it is its name again. Primary key.
delete from repo_names
where owner_id = @owner_id
    and repo_id = @repo_id
    and forge = @forge
    and host = @host
    and namespace = lower(cast(@namespace as text))
    and name = lower(cast(@name as text));

-- name: RepoNameInsert :exec
-- Keeps a name that a repository had until now. Case does not count.
insert into repo_names (owner_id, forge, host, namespace, name, repo_id, replaced_at)
values (@owner_id, @forge, @host, lower(cast(@namespace as text)), lower(cast(@name as text)), @repo_id, @replaced_at);

-- name: RepoNameList :many
-- The names that a repository had, the latest first. Index repo_names_by_repo.
select *
from repo_names
where repo_id = @repo_id
order by replaced_at desc, name desc
limit cast(@max as bigint);

-- name: RepoNameListByName :many
-- The repositories that had that namespace and name, on any forge and host, with
-- the forge and host of that time. Case does not count. Index repo_names_by_name.
select n.forge as named_forge, n.host as named_host, sqlc.embed(r)
from repo_names n
join repos r on r.id = n.repo_id
where n.owner_id = @owner_id
    and n.namespace || '/' || n.name = lower(cast(@full_name as text))
limit cast(@max as bigint);
