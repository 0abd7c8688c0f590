-- name: ProposalListByIDs :many
-- The proposals of a JSON list of ids, unordered. Primary key.
select
    p.id, p.owner_id, p.repo_id, p.stream, p.head, p.base, p.title, p.body, p.author, p.state, p.url,
    p.run_id, p.version, p.created_at, p.updated_at, p.closed_at
from proposals p
where +p.owner_id = @owner_id -- leaves the primary key as the only index
    and p.id in (select t.value from json_each(cast(@ids as text)) t);

-- name: ProposalLock :one
-- One proposal of an owner, held for this transaction until it ends.
select
    id, owner_id, repo_id, stream, head, base, title, body, author, state, url, run_id, version,
    created_at, updated_at, closed_at
from proposals
where id = @id
    and owner_id = @owner_id;
