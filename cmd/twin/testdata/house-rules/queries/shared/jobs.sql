-- name: JobPage :many
-- Pages by offset.
select id from jobs order by id limit cast(@max as bigint) offset cast(@skip as bigint);

-- name: JobStamp :exec
-- Asks the database for the time.
update jobs set run_at = current_timestamp where id = @id;

-- name: JobBare :one
select id from jobs where id = @id;

-- name: JobSoon :one
-- A column may be called now.
select run_at as now from jobs where id = @id;
