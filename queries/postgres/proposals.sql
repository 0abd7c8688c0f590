-- name: ProposalListByIDs :many
-- The proposals of a JSON list of ids, unordered. Primary key.
select p.*
from proposals p
where p.owner_id || '' = @owner_id -- leaves the primary key as the only index
    and p.id = any(array(select json_array_elements_text(cast(cast(@ids as text) as json))));

-- name: ProposalLock :one
-- One proposal of an owner, held for this transaction until it ends.
select *
from proposals
where id = @id
    and owner_id = @owner_id
for update;
