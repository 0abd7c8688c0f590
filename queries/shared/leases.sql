-- name: LeaseBreak :execrows
-- Ends a lease that ends after the latest end that one can have; 0 rows if it does
-- not, or no more.
update leases
set expires_at = @now
where name = @name
    and expires_at > @latest;

-- name: LeaseGet :one
-- One lease.
select *
from leases
where name = @name;

-- name: LeaseList :many
-- The leases by name: one for each background work that one replica at a time
-- does, so there are few, whatever the database holds. Primary key.
select *
from leases
where name > @after_name
order by name
limit cast(@max as bigint);

-- name: LeaseRelease :execrows
-- Ends a lease now; 0 rows if somebody else has it, or it has ended. The row
-- stays: the next holder has the next term.
update leases
set expires_at = @now
where name = @name
    and holder = @holder
    and expires_at > @now;

-- name: LeaseTake :one
-- Takes a lease that nobody has, or renews one's own; no row if somebody else
-- has it. A change of holder begins the next term. taken_at is now: what the
-- lease that is there is judged by.
insert into leases (name, holder, term, taken_at, expires_at)
values (@name, @holder, 1, @taken_at, @expires_at)
on conflict (name) do update
set holder = excluded.holder,
    term = leases.term + case when leases.holder = excluded.holder then 0 else 1 end,
    taken_at = case when leases.holder = excluded.holder then leases.taken_at else excluded.taken_at end,
    expires_at = excluded.expires_at
where leases.holder = excluded.holder
    or leases.expires_at <= excluded.taken_at
returning *;
