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

-- name: PartitionList :many
-- What a connection has of its streams, by stream, up to max. Primary key.
select p.*
from partitions p
where p.connection_id = (select c.id from connections c where c.id = @connection_id and c.owner_id || '' = @owner_id)
order by p.stream
limit cast(@max as bigint);
