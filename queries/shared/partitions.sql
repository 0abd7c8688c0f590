-- name: PartitionBeginRemoval :execrows
-- Has what a run did not see of the streams that it read whole removed.
-- Index partitions_by_refresh.
update partitions
set refresh_state = 'removing',
    updated_at = @now
where owner_id = @owner_id
    and refresh_run_id = @run_id;

-- name: PartitionCancelRefresh :execrows
-- Clears the marks of a run that did not succeed. Index partitions_by_refresh.
update partitions
set refresh_state = null,
    refresh_run_id = null,
    refresh_generation = null,
    refresh_key = null,
    updated_at = @now
where owner_id = @owner_id
    and refresh_run_id = @run_id;

-- name: PartitionDeleteByConnection :execrows
-- Deletes the partitions of a connection. Primary key.
delete from partitions
where connection_id = @connection_id;

-- name: PartitionEndRemoval :execrows
-- Ends the full refresh of a partition that is held.
update partitions
set refresh_state = null,
    refresh_run_id = null,
    refresh_generation = null,
    refresh_key = null,
    updated_at = @now
where connection_id = @connection_id
    and stream = @stream;

-- name: PartitionGet :one
-- One partition of an owner.
select *
from partitions
where connection_id = @connection_id
    and stream = @stream
    and owner_id || '' = @owner_id;

-- name: PartitionList :many
-- What a connection has of its streams, by stream, up to max. Primary key.
select p.*
from partitions p
where p.connection_id = (select c.id from connections c where c.id = @connection_id and c.owner_id || '' = @owner_id)
order by p.stream
limit cast(@max as bigint);

-- name: PartitionRaiseFloor :execrows
-- Notes that deletions up to a version may be gone, and holds the partition.
update partitions
set floor_version = case when floor_version < @floor_version then @floor_version else floor_version end
where connection_id = @connection_id
    and stream = @stream;

-- name: PartitionSetFigures :exec
-- Sets the figures of a partition that is held, made anew from its records.
update partitions
set version = @version,
    live_count = @live_count,
    undated_count = @undated_count,
    bad_time_count = @bad_time_count,
    min_sort_at = @min_sort_at,
    max_sort_at = @max_sort_at,
    last_seq = @last_seq
where connection_id = @connection_id
    and stream = @stream
    and owner_id || '' = @owner_id;

-- name: PartitionSetRefreshKey :execrows
-- Notes up to which key the records of a partition that is held were looked at.
update partitions
set refresh_key = @refresh_key
where connection_id = @connection_id
    and stream = @stream;

-- name: PartitionWalk :many
-- The partitions of all owners behind one. Primary key.
select *
from partitions
where (connection_id, stream) > (@after_connection_id, coalesce(cast(@after_stream as text), ''))
order by connection_id, stream
limit cast(@max as bigint);
