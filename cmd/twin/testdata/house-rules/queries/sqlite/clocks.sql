-- name: JobDue :many
-- Pages by offset, SQLite's short way.
select id from jobs where id <> datetime('now') order by id limit 10, 20;

-- name: JobNumbered :one
-- Takes an argument by its number.
select id from jobs where id = ?;
