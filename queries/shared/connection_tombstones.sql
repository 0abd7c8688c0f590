-- name: TombstoneDelete :execrows
-- Lets a source that was deleted be connected again; 0 rows if it was not deleted.
delete from connection_tombstones
where owner_id = @owner_id
    and connector_id = @connector_id
    and source_kind = @source_kind
    and binding_key = @binding_key;

-- name: TombstoneGet :one
-- The connection of a source that was deleted. Primary key.
select *
from connection_tombstones
where owner_id = @owner_id
    and connector_id = @connector_id
    and source_kind = @source_kind
    and binding_key = @binding_key;

-- name: TombstoneInsert :exec
-- Keeps that the connection of a source was deleted.
insert into connection_tombstones (owner_id, connector_id, source_kind, binding_key, connection_id, actor, deleted_at)
values (@owner_id, @connector_id, @source_kind, @binding_key, @connection_id, @actor, @deleted_at);
