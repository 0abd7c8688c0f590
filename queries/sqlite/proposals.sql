-- name: ProposalListByIDs :many
-- The proposals of a JSON list of ids, unordered. Primary key.
select p.*
from proposals p
where +p.owner_id = @owner_id -- leaves the primary key as the only index
    and p.id in (select t.value from json_each(cast(@ids as text)) t);

-- name: ProposalLock :one
-- One proposal of an owner, held for this transaction until it ends.
select *
from proposals
where id = @id
    and owner_id = @owner_id;
