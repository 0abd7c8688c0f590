-- name: JobArgument :one
-- An argument of another type.
select id from jobs where kind = @kind and priority > cast(@floor as text);

-- name: JobCommand :execrows
-- Another command.
delete from jobs where id = @id;

-- name: JobComment :one
-- Held.
select id from jobs where id = @id;

-- name: JobField :one
-- One argument more.
select id from jobs where id = @id;

-- name: JobOrder :one
-- The arguments in another order.
select id from jobs where owner_id = @owner_id and id = @id;

-- name: JobResult :one
-- Another result.
select priority from jobs where id = @id;

-- name: JobRow :one
-- A row with another column.
select id, note from jobs where id = @id;
