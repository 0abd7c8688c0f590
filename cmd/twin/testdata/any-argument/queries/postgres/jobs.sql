-- name: JobsByID :many
-- The argument comes out as one string.
select kind from jobs where id = any(sqlc.arg(ids));
