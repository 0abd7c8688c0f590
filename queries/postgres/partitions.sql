-- name: PartitionBeginRefresh :execrows
-- Has the partitions of a JSON list of streams, made if they are missing, mark what
-- a run brings. One whose unseen records are being removed is left out.
insert into partitions (
    connection_id, stream, owner_id, version, floor_version, live_count, undated_count, bad_time_count, last_seq,
    refresh_state, refresh_run_id, refresh_generation, refresh_key, created_at, updated_at
)
select
    cast(@connection_id as text), x.stream, cast(@owner_id as text), 0, 0, 0, 0, 0, 0,
    'reading', cast(@run_id as text), cast(@generation as bigint), '', cast(@now as timestamptz), cast(@now as timestamptz)
from json_array_elements_text(cast(cast(@streams as text) as json)) x(stream)
on conflict (connection_id, stream) do update
set refresh_state = excluded.refresh_state,
    refresh_run_id = excluded.refresh_run_id,
    refresh_generation = excluded.refresh_generation,
    refresh_key = excluded.refresh_key,
    updated_at = excluded.updated_at
where partitions.refresh_state is null
    or partitions.refresh_run_id = excluded.refresh_run_id;

-- name: PartitionInsertMany :execrows
-- Makes the partitions of a JSON list of streams that a connection does not have.
insert into partitions (
    connection_id, stream, owner_id, version, floor_version, live_count, undated_count,
    bad_time_count, last_seq, created_at, updated_at
)
select cast(@connection_id as text), x.stream, cast(@owner_id as text), 0, 0, 0, 0, 0, 0, cast(@now as timestamptz), cast(@now as timestamptz)
from json_array_elements_text(cast(cast(@streams as text) as json)) x(stream)
on conflict (connection_id, stream) do nothing;

-- name: PartitionLockMany :many
-- The partitions of a JSON list of {connection_id, stream}, held for this
-- transaction until it ends, in the order of the list. Primary key.
select p.*
from json_to_recordset(cast(cast(@rows as text) as json)) as x(connection_id text, stream text)
join partitions p on p.connection_id = x.connection_id and p.stream = x.stream
where p.owner_id || '' = @owner_id
for update of p;

-- name: PartitionSetMany :execrows
-- Sets what a chunk changed of partitions, a JSON list; times in microseconds.
update partitions
set version = x.version,
    live_count = x.live_count,
    undated_count = x.undated_count,
    bad_time_count = x.bad_time_count,
    min_sort_at = from_us(x.min_sort_at),
    max_sort_at = from_us(x.max_sort_at),
    last_seq = x.last_seq,
    updated_at = @now
from json_to_recordset(cast(cast(@rows as text) as json)) as x(
    connection_id text, stream text, version bigint, live_count bigint, undated_count bigint, bad_time_count bigint,
    min_sort_at bigint, max_sort_at bigint, last_seq bigint
)
where partitions.connection_id = x.connection_id
    and partitions.stream = x.stream
    and partitions.owner_id || '' = @owner_id;

-- name: PartitionSetTimes :execrows
-- Looks for the earliest and the latest record of the partitions of a JSON list
-- of {connection_id, stream}. Index records_by_time.
update partitions
set min_sort_at = (
        select r.sort_at
        from records r
        where r.connection_id = partitions.connection_id
            and r.stream = partitions.stream
            and r.deleted_at is null
            and r.sort_at > @undated
        order by r.connection_id, r.stream, r.sort_at, r.id
        limit 1
    ),
    max_sort_at = (
        select r.sort_at
        from records r
        where r.connection_id = partitions.connection_id
            and r.stream = partitions.stream
            and r.deleted_at is null
            and r.sort_at > @undated
        order by r.connection_id desc, r.stream desc, r.sort_at desc, r.id desc
        limit 1
    )
from json_to_recordset(cast(cast(@rows as text) as json)) as x(connection_id text, stream text)
where partitions.connection_id = x.connection_id
    and partitions.stream = x.stream
    and partitions.owner_id || '' = @owner_id;
