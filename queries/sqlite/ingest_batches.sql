-- name: BatchDeleteByConnection :execrows
-- Deletes up to max batches of a connection. Primary key.
delete from ingest_batches
where (connection_id, batch_id) in (
    select b.connection_id, b.batch_id
    from ingest_batches b
    where b.connection_id = @connection_id
    order by b.batch_id
    limit cast(@max as bigint)
);

-- name: BatchSweep :execrows
-- Deletes up to max batches of all owners that nothing came for since before cutoff,
-- the oldest first; their senders' leases are long over. Index
-- ingest_batches_by_update.
delete from ingest_batches
where (connection_id, batch_id) in (
    select b.connection_id, b.batch_id
    from ingest_batches b
    where b.updated_at < @cutoff
    order by b.updated_at, b.connection_id, b.batch_id
    limit cast(@max as bigint)
);
