-- name: RecordChanges :many
-- What changed of a partition behind a version: each record once, in its latest
-- version, by version. Index records_by_version.
select r.id, r.key, r.data, r.emitted_at, r.sort_at, r.dated_by, r.version, r.created_at, r.updated_at, r.deleted_at
from records r
where r.connection_id = (select c.id from connections c where c.id = @connection_id and c.owner_id || '' = @owner_id)
    and r.stream = @stream
    and r.version > @since
order by r.version
limit cast(@max as bigint);

-- name: RecordListBehind :many
-- The records of a partition behind a key, by key, for a pass. Index records_key.
select key, seen_generation, deleted_at
from records
where connection_id = @connection_id
    and stream = @stream
    and key > @after_key
order by key
limit cast(@max as bigint);

-- name: RecordListDeleted :many
-- Records of all owners that were deleted before cutoff, the oldest deletions first.
-- Index records_deleted.
select id, connection_id, stream, version
from records
where deleted_at < @cutoff
order by deleted_at, id
limit cast(@max as bigint);

-- name: RecordWalkFigures :many
-- What the figures of a partition are made of, by key; the deleted records too.
-- Index records_key.
select key, sort_at, dated_by, bad_time, seq, version, deleted_at
from records
where connection_id = @connection_id
    and stream = @stream
    and key > @after_key
order by key
limit cast(@max as bigint);

-- name: RecordWalkPartition :one
-- The partition behind one that has records, of all owners. Index records_key.
select owner_id, connection_id, stream
from records
where (connection_id, stream) > (@after_connection_id, coalesce(cast(@after_stream as text), ''))
order by connection_id, stream, key
limit 1;
