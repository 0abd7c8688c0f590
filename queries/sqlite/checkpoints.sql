-- name: CheckpointSetMany :execrows
-- Sets the checkpoints of a JSON list of {stream, checkpoint} of a connection.
insert into checkpoints (connection_id, stream, owner_id, checkpoint, run_id, updated_at)
select @connection_id, x.value ->> '$.stream', @owner_id, x.value ->> '$.checkpoint', sqlc.narg(run_id), @now
from json_each(cast(@rows as text)) x
where true
on conflict (connection_id, stream) do update
set checkpoint = excluded.checkpoint,
    run_id = excluded.run_id,
    updated_at = excluded.updated_at;
