-- name: JobsByID :many
-- The argument comes out as one string.
select kind from jobs where id in (select value from json_each(cast(@ids as text)));
