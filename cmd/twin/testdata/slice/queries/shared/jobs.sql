-- name: JobsByID :many
-- PostgreSQL takes the list for one value, SQLite misnumbers what follows.
select kind from jobs where id in (sqlc.slice(ids)) and owner_id = @owner_id;
