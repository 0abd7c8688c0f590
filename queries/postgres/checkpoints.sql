-- name: CheckpointSetMany :execrows
-- Sets the checkpoints of a JSON list of {stream, checkpoint} of a connection.
insert into checkpoints (connection_id, stream, owner_id, checkpoint, run_id, updated_at)
select cast(@connection_id as text), x.stream, cast(@owner_id as text), cast(x.checkpoint as json), sqlc.narg(run_id), cast(@now as timestamptz)
from json_to_recordset(cast(cast(@rows as text) as json)) as x(stream text, checkpoint text)
on conflict (connection_id, stream) do update
set checkpoint = excluded.checkpoint,
    run_id = excluded.run_id,
    updated_at = excluded.updated_at;
