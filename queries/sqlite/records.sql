-- name: RecordDeleteByConnection :execrows
-- Deletes up to max records of a connection. Index records_key.
delete from records
where id in (
    select r.id
    from records r
    where r.connection_id = @connection_id
    order by r.stream, r.key
    limit cast(@max as bigint)
);

-- name: RecordInsertMany :execrows
-- Inserts the records of a JSON list, times in microseconds.
insert into records (
    id, owner_id, connection_id, stream, key, data, hash, search, emitted_at, sort_at, dated_by, bad_time,
    first_seq, seq, version, seen_generation, created_at, updated_at, deleted_at
)
select
    x.value ->> '$.id', @owner_id, @connection_id, x.value ->> '$.stream', x.value ->> '$.key', x.value ->> '$.data',
    x.value ->> '$.hash', x.value ->> '$.search', x.value ->> '$.emitted_at', x.value ->> '$.sort_at',
    x.value ->> '$.dated_by', x.value ->> '$.bad_time', x.value ->> '$.first_seq', x.value ->> '$.seq',
    x.value ->> '$.version', x.value ->> '$.seen_generation', @now, @now, x.value ->> '$.deleted_at'
from json_each(cast(@rows as text)) x;

-- name: RecordListByKeys :many
-- The records of a JSON list of {stream, key} of a connection, without their data
-- and unordered. Index records_key.
select
    r.id, r.stream, r.key, r.hash, r.emitted_at, r.sort_at, r.dated_by, r.bad_time, r.seq, r.version,
    r.seen_generation, r.updated_at, r.deleted_at
from json_each(cast(@rows as text)) x
cross join records r
where r.connection_id = @connection_id
    and r.stream = x.value ->> '$.stream'
    and r.key = x.value ->> '$.key'
    and r.owner_id || '' = @owner_id;

-- name: RecordSetMany :execrows
-- Brings the records of a JSON list to another version, times in microseconds.
-- One whose data are null keeps its data.
insert into records ( -- sqlc takes no update from rows: each row is there, and its id conflicts
    updated_at, owner_id, id, connection_id, stream, key, data, hash, search, emitted_at, sort_at, dated_by, bad_time,
    first_seq, seq, version, seen_generation, created_at, deleted_at
)
select
    @now, @owner_id, r.id, r.connection_id, r.stream, r.key, coalesce(x.value ->> '$.data', r.data), x.value ->> '$.hash',
    coalesce(x.value ->> '$.search', r.search), x.value ->> '$.emitted_at', x.value ->> '$.sort_at',
    x.value ->> '$.dated_by', x.value ->> '$.bad_time', r.first_seq, x.value ->> '$.seq', x.value ->> '$.version',
    x.value ->> '$.seen_generation', r.created_at, x.value ->> '$.deleted_at'
from json_each(cast(@rows as text)) x
cross join records r
where r.id = x.value ->> '$.id'
    and r.owner_id || '' = @owner_id
on conflict (id) do update
set data = excluded.data,
    hash = excluded.hash,
    search = excluded.search,
    emitted_at = excluded.emitted_at,
    sort_at = excluded.sort_at,
    dated_by = excluded.dated_by,
    bad_time = excluded.bad_time,
    seq = excluded.seq,
    version = excluded.version,
    seen_generation = excluded.seen_generation,
    updated_at = excluded.updated_at,
    deleted_at = excluded.deleted_at;

-- name: RecordSetSeen :execrows
-- Notes that the full refresh of that generation saw the records of a JSON list of ids.
update records
set seen_generation = @generation
where id in (select t.value from json_each(cast(@ids as text)) t)
    and owner_id || '' = @owner_id;

-- name: RecordSweep :execrows
-- Deletes the records of a JSON list of ids, if they are still deleted since before
-- cutoff; their partitions are held. Primary key.
delete from records
where id in (select t.value from json_each(cast(@ids as text)) t)
    and +deleted_at < @cutoff; -- the plus leaves the primary key as the only index
