-- name: WorkerPage :many
-- The workers of an owner by name. Primary key.
select *
from workers
where owner_id = @owner_id
    and name > @after_name
order by name
limit cast(@max as bigint);

-- name: WorkerSweep :execrows
-- Forgets workers of all owners that were last seen before cutoff, the oldest
-- first. Index workers_by_seen.
delete from workers
where workers.last_seen_at < @cutoff
    and (owner_id, name) in (
        select w.owner_id, w.name
        from workers w
        where w.last_seen_at < @cutoff
        order by w.last_seen_at
        limit cast(@max as bigint)
    );
