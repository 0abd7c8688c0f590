-- name: RecordDeleteByConnection :execrows
-- Deletes up to max records of a connection. Index records_key.
delete from records
where id = any(array(
    select r.id
    from records r
    where r.connection_id = @connection_id
    order by r.stream, r.key
    limit cast(@max as bigint)
));

-- name: RecordInsertMany :execrows
-- Inserts the records of a JSON list, times in microseconds.
insert into records (
    id, owner_id, connection_id, stream, key, data, hash, search, emitted_at, sort_at, dated_by, bad_time,
    first_seq, seq, version, seen_generation, created_at, updated_at, deleted_at
)
select
    x.id, cast(@owner_id as text), cast(@connection_id as text), x.stream, x.key, cast(x.data as json), x.hash, x.search,
    from_us(x.emitted_at), from_us(x.sort_at), x.dated_by, x.bad_time, x.first_seq, x.seq, x.version, x.seen_generation,
    cast(@now as timestamptz), cast(@now as timestamptz), from_us(x.deleted_at)
from json_to_recordset(cast(cast(@rows as text) as json)) as x(
    id text, stream text, key text, data text, hash text, search text, emitted_at bigint, sort_at bigint,
    dated_by text, bad_time boolean, first_seq bigint, seq bigint, version bigint, seen_generation bigint, deleted_at bigint
);

-- name: RecordListByKeys :many
-- The records of a JSON list of {stream, key} of a connection, without their data
-- and unordered. Index records_key.
select
    r.id, r.stream, r.key, r.hash, r.emitted_at, r.sort_at, r.dated_by, r.bad_time, r.seq, r.version,
    r.seen_generation, r.updated_at, r.deleted_at
from json_to_recordset(cast(cast(@rows as text) as json)) as x(stream text, key text)
cross join lateral ( -- the first from the key on, by that index alone; an upper bound there would not end the scan for a key that is new
    select i.*
    from records i
    where (i.connection_id, i.stream, i.key) >= (cast(@connection_id as text), x.stream, x.key)
    order by i.connection_id, i.stream, i.key
    limit 1
) r
where r.connection_id = cast(@connection_id as text)
    and r.stream = x.stream
    and r.key = x.key
    and r.owner_id || '' = cast(@owner_id as text);

-- name: RecordSetMany :execrows
-- Brings the records of a JSON list to another version, times in microseconds.
-- One whose data are null keeps its data.
insert into records ( -- each row is there, and its id conflicts: an update from rows may read the whole table
    updated_at, owner_id, id, connection_id, stream, key, data, hash, search, emitted_at, sort_at, dated_by, bad_time,
    first_seq, seq, version, seen_generation, created_at, deleted_at
)
select
    cast(@now as timestamptz), cast(@owner_id as text), r.id, r.connection_id, r.stream, r.key,
    coalesce(cast(x.data as json), r.data), x.hash, coalesce(x.search, r.search), from_us(x.emitted_at), from_us(x.sort_at),
    x.dated_by, x.bad_time, r.first_seq, x.seq, x.version, x.seen_generation, r.created_at, from_us(x.deleted_at)
from json_to_recordset(cast(cast(@rows as text) as json)) as x(
    id text, data text, hash text, search text, emitted_at bigint, sort_at bigint, dated_by text,
    bad_time boolean, seq bigint, version bigint, seen_generation bigint, deleted_at bigint
)
cross join lateral (
    select i.*
    from records i
    where i.id = x.id
        and i.owner_id || '' = @owner_id
    limit 1
) r
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
where id = any(array(select json_array_elements_text(cast(cast(@ids as text) as json))))
    and owner_id || '' = @owner_id;

-- name: RecordSweep :execrows
-- Deletes the records of a JSON list of ids, if they are still deleted since before
-- cutoff; their partitions are held. Primary key.
delete from records
where id = any(array(select json_array_elements_text(cast(cast(@ids as text) as json))))
    and coalesce(deleted_at, 'infinity') < @cutoff; -- leaves the primary key as the only index
