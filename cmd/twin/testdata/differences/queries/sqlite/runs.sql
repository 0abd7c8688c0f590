-- name: RunElsewhere :one
-- Only SQLite has the file.
select id from jobs where id = @id;
