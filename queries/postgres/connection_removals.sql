-- name: RemovalLock :one
-- The first deleted connection of all owners behind the one given whose records are
-- being removed, held for this transaction; one that another transaction holds is
-- passed over. Primary key.
select *
from connection_removals
where connection_id > @after_id
order by connection_id
limit 1
for update skip locked;
