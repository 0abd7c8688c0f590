-- name: RemovalInsert :exec
-- Queues the removal of what a deleted connection has brought.
insert into connection_removals (connection_id, owner_id, created_at)
values (@connection_id, @owner_id, @created_at);
