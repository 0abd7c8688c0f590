-- name: JobClaim :many
-- Takes jobs that are due.
update jobs set run_at = @until
where id in (
        select j.id from jobs j
        where j.owner_id = @owner_id and j.run_at <= @now
        order by j.run_at
        limit cast(@max as bigint))
returning id, payload;

-- name: JobLock :one
-- Holds a job until the transaction ends.
select id from jobs where id = @id;

-- name: JobMark :one
-- Writes on one engine only.
update jobs set note = null where id = @id returning id;
