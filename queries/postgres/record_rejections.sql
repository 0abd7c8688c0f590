-- name: RejectionInsertMany :execrows
-- Keeps refused lines, a JSON list; one with the bytes of another of the
-- connection is left out.
insert into record_rejections (
    id, owner_id, connection_id, stream, line_index, batch_id, run_id, code, detail, line, line_bytes, hash, created_at
)
select
    x.id, cast(@owner_id as text), cast(@connection_id as text), x.stream, x.line_index, sqlc.narg(batch_id), sqlc.narg(run_id),
    x.code, x.detail, x.line, x.line_bytes, x.hash, cast(@now as timestamptz)
from json_to_recordset(cast(cast(@rows as text) as json)) as x(
    id text, stream text, line_index bigint, code text, detail text, line text, line_bytes bigint, hash text
)
on conflict (connection_id, hash) do nothing;

-- name: RejectionListByHashes :many
-- The refused lines that are kept of a JSON list of hashes. Index record_rejections_line.
select r.id, r.hash
from record_rejections r
where r.connection_id = @connection_id
    and r.hash = any(array(select json_array_elements_text(cast(cast(@hashes as text) as json))))
    and r.owner_id || '' = @owner_id;
