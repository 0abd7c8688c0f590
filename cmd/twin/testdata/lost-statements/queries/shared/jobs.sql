select 1;

-- name: JobCount :one
-- A misspelled name line makes the next statement part of this one.
select count(*) from jobs;

-- nam: JobDelete :exec
-- Nobody sees this one go.
delete from jobs where id = @id;

-- name: JobNothing :exec
-- There is no SQL here.
