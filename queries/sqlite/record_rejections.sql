-- name: RejectionInsertMany :execrows
-- Keeps refused lines, a JSON list; one with the bytes of another of the
-- connection is left out.
insert into record_rejections (
    id, owner_id, connection_id, stream, line_index, batch_id, run_id, code, detail, line, line_bytes, hash, created_at
)
select
    x.value ->> '$.id', @owner_id, @connection_id, x.value ->> '$.stream', x.value ->> '$.line_index', sqlc.narg(batch_id), sqlc.narg(run_id),
    x.value ->> '$.code', x.value ->> '$.detail', x.value ->> '$.line', x.value ->> '$.line_bytes', x.value ->> '$.hash', @now
from json_each(cast(@rows as text)) x
where true
on conflict (connection_id, hash) do nothing;

-- name: RejectionListByHashes :many
-- The refused lines that are kept of a JSON list of hashes. Index record_rejections_line.
select r.id, r.hash
from record_rejections r
where r.connection_id = @connection_id
    and r.hash in (select t.value from json_each(cast(@hashes as text)) t)
    and r.owner_id || '' = @owner_id;
