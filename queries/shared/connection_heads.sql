-- name: HeadCountRejected :execrows
-- Counts lines of a connection that the quarantine took.
update connection_heads
set rejected_count = rejected_count + cast(@added as bigint),
    revision = revision + 1,
    updated_at = @now
where connection_id = @connection_id
    and owner_id = @owner_id;

-- name: HeadDelete :execrows
-- Deletes the heads of a connection.
delete from connection_heads
where connection_id = @connection_id
    and owner_id = @owner_id;

-- name: HeadEndRun :execrows
-- Notes that the running run of a connection has ended, and whether it succeeded.
update connection_heads
set active_run_id = null,
    settled_run_id = @run_id,
    succeeded_run_id = coalesce(sqlc.narg(succeeded_run_id), succeeded_run_id),
    revision = revision + 1,
    updated_at = @now
where connection_id = @connection_id
    and owner_id = @owner_id;

-- name: HeadGet :one
-- The heads of a connection.
select *
from connection_heads
where connection_id = @connection_id
    and owner_id = @owner_id;

-- name: HeadIngested :execrows
-- Notes that a connection has brought records.
update connection_heads
set last_ingest_at = @now,
    revision = revision + 1,
    updated_at = @now
where connection_id = @connection_id
    and owner_id = @owner_id;

-- name: HeadInsert :exec
-- Makes the heads of a connection that is made.
insert into connection_heads (connection_id, owner_id, rejected_count, revision, updated_at)
values (@connection_id, @owner_id, 0, 1, @updated_at);

-- name: HeadRecount :one
-- How many refused lines the heads of a connection count, and how many the
-- quarantine keeps, in one snapshot. Index record_rejections_line.
select
    h.rejected_count,
    cast((
        select count(*)
        from record_rejections r
        where r.connection_id = h.connection_id
            and r.hash > '' -- leaves that index as the only one
    ) as bigint) as kept_lines
from connection_heads h
where h.connection_id = @connection_id
    and h.owner_id = @owner_id;

-- name: HeadSetRuns :exec
-- Sets the runs of a connection's heads anew, and makes the row if it is missing.
insert into connection_heads (
    connection_id, owner_id, active_run_id, latest_run_id, settled_run_id, succeeded_run_id, rejected_count, revision, updated_at
)
values (
    @connection_id, @owner_id, sqlc.narg(active_run_id), sqlc.narg(latest_run_id), sqlc.narg(settled_run_id),
    sqlc.narg(succeeded_run_id), 0, 1, @updated_at
)
on conflict (connection_id) do update
set active_run_id = excluded.active_run_id,
    latest_run_id = excluded.latest_run_id,
    settled_run_id = excluded.settled_run_id,
    succeeded_run_id = excluded.succeeded_run_id,
    revision = connection_heads.revision + 1,
    updated_at = excluded.updated_at;

-- name: HeadStartRun :execrows
-- Notes the run that a connection has begun.
update connection_heads
set active_run_id = @run_id,
    latest_run_id = @run_id,
    revision = revision + 1,
    updated_at = @now
where connection_id = @connection_id
    and owner_id = @owner_id;
