-- name: ConnectionActivate :execrows
-- Ends the draft of a connection that brings records; 0 rows if it is none.
update connections
set status = 'active',
    version = version + 1,
    updated_at = @now
where id = @id -- as the only index
    and owner_id || '' = @owner_id
    and status || '' = 'draft';

-- name: ConnectionDelete :execrows
-- Deletes a connection.
delete from connections
where id = @id -- as the only index
    and owner_id || '' = @owner_id;

-- name: ConnectionGet :one
-- One connection of an owner.
select *
from connections
where id = @id -- as the only index
    and owner_id || '' = @owner_id;

-- name: ConnectionGetByBinding :one
-- The connection of a source. Index connections_binding.
select *
from connections
where owner_id = @owner_id
    and connector_id = @connector_id
    and source_kind = @source_kind
    and binding_key = @binding_key;

-- name: ConnectionInsert :execrows
-- Makes a connection; 0 rows if its source is connected.
insert into connections (
    id, owner_id, connector_id, source_kind, binding_key, display_name, status,
    run_generation, version, actor, acted_at, created_at, updated_at
)
values (
    @id, @owner_id, @connector_id, @source_kind, @binding_key, @display_name, @status,
    0, 1, @actor, @created_at, @created_at, @created_at
)
on conflict do nothing;

-- name: ConnectionListByConnector :many
-- The connections of a connector that are not revoked. Index connections_in_use.
select *
from connections
where owner_id = @owner_id
    and connector_id = @connector_id
    and status <> 'revoked'
order by id
limit cast(@max as bigint);

-- name: ConnectionPage :many
-- The connections behind those of a connector, by connector, the oldest first.
-- Index connections_by_connector.
select *
from connections
where owner_id = @owner_id
    and connector_id > @after_connector_id
order by connector_id, created_at, id
limit cast(@max as bigint);

-- name: ConnectionPageByConnector :many
-- Those of one connector, the oldest first. Index connections_by_connector.
select *
from connections
where owner_id = @owner_id
    and connector_id = @connector_id
    and (created_at, id) > (@after_at, coalesce(cast(@after_id as text), ''))
order by created_at, id
limit cast(@max as bigint);

-- name: ConnectionRename :one
-- Gives a connection another display name, fenced by its version.
update connections
set display_name = @display_name,
    version = version + 1,
    actor = @actor,
    acted_at = @now,
    updated_at = @now
where id = @id -- as the only index
    and owner_id || '' = @owner_id
    and version = @expected_version
returning *;

-- name: ConnectionSetStatus :one
-- Brings a connection from one status into another, fenced by its version.
update connections
set status = @to_status,
    version = version + 1,
    actor = @actor,
    acted_at = @now,
    updated_at = @now,
    revoked_at = sqlc.narg(revoked_at)
where id = @id -- as the only index
    and owner_id || '' = @owner_id
    and status || '' = @from_status
    and version = @expected_version
returning *;

-- name: ConnectionStartRun :one
-- Raises the generation of a connection's runs, for one that begins.
update connections
set run_generation = run_generation + 1
where id = @id -- as the only index
    and owner_id || '' = @owner_id
returning run_generation;

-- name: ConnectionWalk :many
-- The connections of all owners behind an id, by id. Primary key.
select *
from connections
where id > @after_id
order by id
limit cast(@max as bigint);
