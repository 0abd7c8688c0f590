-- name: JobArgument :one
-- An argument of another type.
select id from jobs where kind = @kind and priority > cast(@floor as bigint);

-- name: JobCommand :exec
-- Another command.
delete from jobs where id = @id;

-- name: JobComment :one
-- Locked.
select id from jobs where id = @id;

-- name: JobField :one
-- One argument more.
select id from jobs where id = @id and owner_id = @owner_id;

-- name: JobMissing :one
-- Only PostgreSQL has it.
select id from jobs where id = @id;

-- name: JobOrder :one
-- The arguments in another order.
select id from jobs where id = @id and owner_id = @owner_id;

-- name: JobResult :one
-- Another result.
select kind from jobs where id = @id;

-- name: JobRow :one
-- A row with another column.
select id, kind from jobs where id = @id;
