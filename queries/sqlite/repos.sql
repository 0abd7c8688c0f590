-- name: RepoFind :one
-- The repository that has that name, or had it; else one of a JSON list of hosts,
-- the spellings of the host that releases before told apart. Case does not count.
-- Primary keys and index repos_identity.
select r.*
from repos r
where r.id = coalesce(
        (
            select n.repo_id
            from repo_names n
            where n.owner_id = @owner_id
                and n.forge = @forge
                and n.host = @host
                and n.namespace = lower(cast(@namespace as text))
                and n.name = lower(cast(@name as text))
        ),
        (
            select i.id
            from repos i
            where i.owner_id = @owner_id
                and i.forge = @forge
                and i.host = @host
                and lower(i.namespace) = lower(cast(@namespace as text))
                and lower(i.name) = lower(cast(@name as text))
        ),
        (
            select l.id
            from repos l
            where l.owner_id = @owner_id
                and l.forge = @forge
                and l.host in (select t.value from json_each(cast(@hosts as text)) t)
                and lower(l.namespace) = lower(cast(@namespace as text))
                and lower(l.name) = lower(cast(@name as text))
            limit 1
        )
    );

-- name: RepoHold :one
-- One repository of an owner. Until this transaction ends nobody renames it.
select *
from repos
where id = @id
    and owner_id = @owner_id;

-- name: RepoHoldByName :one
-- RepoFind, and until this transaction ends nobody renames it. Whoever waits for a
-- rename gets the new name: the row is chosen by its id.
select r.*
from repos r
where r.id = coalesce(
        (
            select n.repo_id
            from repo_names n
            where n.owner_id = @owner_id
                and n.forge = @forge
                and n.host = @host
                and n.namespace = lower(cast(@namespace as text))
                and n.name = lower(cast(@name as text))
        ),
        (
            select i.id
            from repos i
            where i.owner_id = @owner_id
                and i.forge = @forge
                and i.host = @host
                and lower(i.namespace) = lower(cast(@namespace as text))
                and lower(i.name) = lower(cast(@name as text))
        ),
        (
            select l.id
            from repos l
            where l.owner_id = @owner_id
                and l.forge = @forge
                and l.host in (select t.value from json_each(cast(@hosts as text)) t)
                and lower(l.namespace) = lower(cast(@namespace as text))
                and lower(l.name) = lower(cast(@name as text))
            limit 1
        )
    );

-- name: RepoLock :one
-- One repository of an owner, to be renamed: waits for those who hold it, and
-- those who come wait. Rows that refer to it can be inserted meanwhile.
select *
from repos
where id = @id
    and owner_id = @owner_id;
