-- name: ProposalCountOpen :one
-- How many proposals of an owner are open, up to max, in up to max_repos of its
-- repos. An index of repos by owner and one of proposals by repo and state.
select count(*)
from (
    select 1
    from (
        select i.id
        from repos i
        where i.owner_id = @owner_id
        limit cast(@max_repos as bigint)
    ) r
    join proposals p on p.repo_id = r.id
    where p.state = 'open'
    limit cast(@max as bigint)
) found;

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
