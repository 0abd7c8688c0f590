-- name: RemovalDelete :execrows
-- Ends the removal of what a deleted connection has brought.
delete from connection_removals
where connection_id = @connection_id;

-- name: RemovalInsert :exec
-- Queues the removal of what a deleted connection has brought.
insert into connection_removals (connection_id, owner_id, created_at)
values (@connection_id, @owner_id, @created_at);
