-- name: JobCountOfKind :one
-- SQLite loses an argument in a filter.
select count(*) filter (where kind = @kind) from jobs where owner_id = @owner_id;

-- name: JobsBetween :many
-- SQLite loses the bounds after `and`.
select id from jobs where owner_id = @owner_id and priority between @low and @high;

-- name: JobsOrdered :many
-- SQLite loses an argument in order by.
select id from jobs where owner_id = @owner_id order by kind = @kind, id;

-- name: KindsBusy :many
-- SQLite loses or mistypes an argument in having.
select kind from jobs where owner_id = @owner_id group by kind having count(*) > @min and max(priority) < @top;
