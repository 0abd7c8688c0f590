-- name: BatchAccept :execrows
-- Ends a batch whose lines are all durable, with the answer that every replay
-- gets; 0 rows if another sender has it, or its lines are not those.
update ingest_batches
set state = 'accepted',
    holder = null,
    lease_expires_at = null,
    answer = @answer,
    updated_at = @now,
    accepted_at = @now
where connection_id = @connection_id
    and batch_id = @batch_id
    and owner_id = @owner_id
    and state = 'processing'
    and durable_lines = @durable_lines
    and holder = @holder;

-- name: BatchAdvance :execrows
-- Moves the durable prefix of a batch on, in the transaction of those lines, and
-- renews the lease; 0 rows if another sender has it, or moved it meanwhile.
-- Without rejections those stay.
update ingest_batches
set durable_lines = @durable_lines,
    accepted_count = @accepted_count,
    unchanged_count = @unchanged_count,
    checkpoint_count = @checkpoint_count,
    rejected_count = @rejected_count,
    rejections = coalesce(sqlc.narg(rejections), rejections),
    lease_expires_at = @lease_expires_at,
    updated_at = @now
where connection_id = @connection_id
    and batch_id = @batch_id
    and owner_id = @owner_id
    and state = 'processing'
    and durable_lines = @expected_durable_lines
    and holder = @holder;

-- name: BatchGet :one
-- A batch of a connection.
select *
from ingest_batches
where connection_id = @connection_id
    and batch_id = @batch_id
    and owner_id = @owner_id;

-- name: BatchInsert :execrows
-- Begins a batch, held by its sender; 0 rows if the connection has it already.
insert into ingest_batches (
    connection_id, batch_id, owner_id, device, body_hash, state, durable_lines,
    accepted_count, unchanged_count, checkpoint_count, rejected_count, rejections,
    holder, lease_expires_at, run_id, created_at, updated_at
)
values (
    @connection_id, @batch_id, @owner_id, @device, @body_hash, 'processing', 0,
    0, 0, 0, 0, @rejections,
    @holder, @lease_expires_at, sqlc.narg(run_id), @now, @now
)
on conflict (connection_id, batch_id) do nothing;

-- name: BatchRelease :execrows
-- Lets another sender go on at once; 0 rows if one does already.
update ingest_batches
set holder = null,
    lease_expires_at = null,
    updated_at = @now
where connection_id = @connection_id
    and batch_id = @batch_id
    and owner_id = @owner_id
    and holder = @holder;

-- name: BatchTake :execrows
-- Gives a batch to another sender; 0 rows if it is accepted, or its holder may
-- still be at work. mark is how the holders of this process begin, where no other
-- process can hold a batch and be alive; else it is empty.
update ingest_batches
set holder = @holder,
    lease_expires_at = @lease_expires_at,
    updated_at = @now
where connection_id = @connection_id
    and batch_id = @batch_id
    and owner_id = @owner_id
    and state = 'processing'
    and (
        holder is null
        or lease_expires_at <= @now
        or substr(holder, 1, length(cast(@mark as text))) <> cast(@mark as text)
    );
