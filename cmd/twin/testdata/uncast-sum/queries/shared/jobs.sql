-- name: JobRaise :exec
-- An argument at the start of a sum has no type.
update jobs set priority = @by + 1 where id = @id;

-- name: JobRaised :many
-- In a condition too.
select id from jobs where priority > @by + 1 and owner_id = @owner_id;
