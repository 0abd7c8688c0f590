-- name: JobCount :one
-- How many jobs an owner has.
select count(*) from jobs where owner_id = @owner_id;

-- name: JobDelete :execrows
-- Deletes a job; 0 rows if it is unknown.
delete from jobs where id = @id and owner_id = @owner_id;

-- name: JobFinish :exec
-- Ends a job: one argument in two places.
update jobs
set finished_at = @now, run_at = @now, note = sqlc.narg(note)
where id = @id;

-- name: JobGet :one
-- One job of an owner.
-- The lines of a comment stay together.
select * from jobs
where owner_id = @owner_id and id = @id;

-- name: JobInsert :one
-- Adds a job.
insert into jobs (id, owner_id, kind, priority, note, payload, run_at)
values (@id, @owner_id, @kind, 0, @note, @payload, @run_at)
returning *;

-- name: JobNotes :many
-- Nothing in a string or a comment is an argument: @this is none.
select j.*, cast(j.kind || ' ?1 $3 it''s @me' as text) as label -- nor ?2, $2, @that
from jobs j /* nor @those */
where j.note = @note and j.kind = sqlc.arg('kind');

-- name: JobOldest :many
-- Its rows have the fields of those of JobPage, so they are of that type.
select id, run_at from jobs
where owner_id = @owner_id
order by run_at, id
limit cast(@max as bigint);

-- name: JobPage :many
-- The newest jobs first, below a position.
select id, run_at from jobs
where owner_id = @owner_id
    and (run_at, id) < (@before_at, coalesce(cast(@before_id as text), ''))
order by run_at desc, id desc
limit cast(@max as bigint);

-- name: JobPlace :one
-- The fields of JobPage in another order are a type of their own.
select run_at, id from jobs where id = @id;

-- name: JobRestore :exec
-- Its arguments are the columns of a job, so they are a job.
insert into jobs (id, owner_id, kind, priority, note, payload, run_at, finished_at)
values (@id, @owner_id, @kind, @priority, sqlc.narg(note), @payload, @run_at, @finished_at);

-- name: JobWalk :many
-- A common table expression reads too.
with late as (select l.id, l.run_at from jobs l where l.run_at < @now)
select sqlc.embed(j), late.run_at as late_at from jobs j
join late on late.id = j.id
order by j.id;

-- name: OwnerLatest :one
-- A single column with a type of its own.
select run_at from jobs where owner_id = @owner_id order by run_at desc limit 1;
