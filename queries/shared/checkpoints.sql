-- name: CheckpointDeleteByConnection :execrows
-- Deletes the checkpoints of a connection. Primary key.
delete from checkpoints
where connection_id = @connection_id;

-- name: CheckpointList :many
-- The checkpoints of a connection by stream, up to max. Primary key.
select k.*
from checkpoints k
where k.connection_id = (select c.id from connections c where c.id = @connection_id and c.owner_id || '' = @owner_id)
order by k.stream
limit cast(@max as bigint);
