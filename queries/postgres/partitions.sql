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
