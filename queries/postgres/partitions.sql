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
cross join lateral (
    select i.*
    from partitions i
    where i.connection_id = x.connection_id
        and i.stream = x.stream
        and i.owner_id || '' = @owner_id
    limit 1
    for update
) p;

-- name: PartitionLockRemoving :one
-- The first partition of all owners behind the one given whose unseen records are
-- being removed, held for this transaction; one that another transaction holds is
-- passed over. Index partitions_removing.
select *
from partitions
where refresh_state = 'removing'
    and (connection_id, stream) > (@after_connection_id, coalesce(cast(@after_stream as text), ''))
order by connection_id, stream
limit 1
for update skip locked;

-- name: PartitionSetMany :execrows
-- Sets what a chunk changed of partitions, a JSON list; times in microseconds.
insert into partitions ( -- each row is there, and its key conflicts: an update from rows may read the whole table
    updated_at, owner_id, connection_id, stream, version, floor_version, live_count, undated_count, bad_time_count,
    min_sort_at, max_sort_at, last_seq, created_at
)
select
    cast(@now as timestamptz), cast(@owner_id as text), p.connection_id, p.stream, x.version, p.floor_version, x.live_count,
    x.undated_count, x.bad_time_count, from_us(x.min_sort_at), from_us(x.max_sort_at), x.last_seq, p.created_at
from json_to_recordset(cast(cast(@rows as text) as json)) as x(
    connection_id text, stream text, version bigint, live_count bigint, undated_count bigint, bad_time_count bigint,
    min_sort_at bigint, max_sort_at bigint, last_seq bigint
)
cross join lateral (
    select i.*
    from partitions i
    where i.connection_id = x.connection_id
        and i.stream = x.stream
        and i.owner_id || '' = @owner_id
    limit 1
) p
on conflict (connection_id, stream) do update
set version = excluded.version,
    live_count = excluded.live_count,
    undated_count = excluded.undated_count,
    bad_time_count = excluded.bad_time_count,
    min_sort_at = excluded.min_sort_at,
    max_sort_at = excluded.max_sort_at,
    last_seq = excluded.last_seq,
    updated_at = excluded.updated_at;

-- name: PartitionSetTimes :execrows
-- Looks for the earliest and the latest record of the partitions of a JSON list
-- of {connection_id, stream}. Index records_by_time.
insert into partitions ( -- each row is there, and its key conflicts: an update from rows may read the whole table
    min_sort_at, max_sort_at, owner_id, connection_id, stream, version, floor_version, live_count, undated_count,
    bad_time_count, last_seq, created_at, updated_at
)
select
    (
        select r.sort_at
        from records r
        where r.connection_id = p.connection_id
            and r.stream = p.stream
            and r.deleted_at is null
            and r.sort_at > @undated
        order by r.connection_id, r.stream, r.sort_at, r.id
        limit 1
    ),
    (
        select r.sort_at
        from records r
        where r.connection_id = p.connection_id
            and r.stream = p.stream
            and r.deleted_at is null
            and r.sort_at > @undated
        order by r.connection_id desc, r.stream desc, r.sort_at desc, r.id desc
        limit 1
    ),
    cast(@owner_id as text), p.connection_id, p.stream, p.version, p.floor_version, p.live_count, p.undated_count,
    p.bad_time_count, p.last_seq, p.created_at, p.updated_at
from json_to_recordset(cast(cast(@rows as text) as json)) as x(connection_id text, stream text)
cross join lateral (
    select i.*
    from partitions i
    where i.connection_id = x.connection_id
        and i.stream = x.stream
        and i.owner_id || '' = @owner_id
    limit 1
) p
on conflict (connection_id, stream) do update
set min_sort_at = excluded.min_sort_at,
    max_sort_at = excluded.max_sort_at;
