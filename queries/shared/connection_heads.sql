-- name: HeadDelete :execrows
-- Deletes the heads of a connection.
delete from connection_heads
where connection_id = @connection_id
    and owner_id = @owner_id;

-- name: HeadGet :one
-- The heads of a connection.
select *
from connection_heads
where connection_id = @connection_id
    and owner_id = @owner_id;

-- name: HeadIngested :execrows
-- Notes that a connection has brought records.
update connection_heads
set last_ingest_at = @now,
    revision = revision + 1,
    updated_at = @now
where connection_id = @connection_id
    and owner_id = @owner_id;

-- name: HeadInsert :exec
-- Makes the heads of a connection that is made.
insert into connection_heads (connection_id, owner_id, rejected_count, revision, updated_at)
values (@connection_id, @owner_id, 0, 1, @updated_at);
