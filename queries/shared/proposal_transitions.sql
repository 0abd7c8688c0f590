-- name: TransitionInsert :exec
-- Keeps that a proposal came into a state.
insert into proposal_transitions (owner_id, proposal_id, version, from_state, to_state, actor, entered_at)
values (@owner_id, @proposal_id, @version, sqlc.narg(from_state), @to_state, @actor, @entered_at);

-- name: TransitionList :many
-- The states that a proposal came into up to a version, the latest first. Primary
-- key. Whoever shows the proposal as it read it before asks for none after that.
select *
from proposal_transitions
where owner_id = @owner_id
    and proposal_id = @proposal_id
    and version <= @up_to
order by version desc
limit cast(@max as bigint);
