-- name: JobDue :many
-- Asks the database for the time.
select id from jobs where run_at <= now();

-- name: JobNumbered :one
-- Takes an argument by its number.
select id from jobs where id = $1;
