-- name: KindGet :one
-- One kind of an owner.
select *
from job_kinds
where owner_id = @owner_id
    and name = @name;

-- name: KindInsert :execrows
-- Registers a kind; 0 rows if it is known.
insert into job_kinds (
    owner_id, name, lease_seconds, max_attempts, backoff_base_seconds, backoff_cap_seconds, timeout_seconds,
    version, created_at, updated_at
)
values (
    @owner_id, @name, @lease_seconds, @max_attempts, @backoff_base_seconds, @backoff_cap_seconds, sqlc.narg(timeout_seconds),
    1, @created_at, @created_at
)
on conflict (owner_id, name) do nothing;

-- name: KindPage :many
-- The kinds by name. Primary key.
select *
from job_kinds
where owner_id = @owner_id
    and name > @after_name
order by name
limit cast(@max as bigint);

-- name: KindPause :execrows
-- Pauses a kind; 0 rows if it is paused, or unknown.
update job_kinds
set paused_at = @now,
    paused_by = @actor,
    version = version + 1,
    updated_at = @now
where owner_id = @owner_id
    and name = @name
    and paused_at is null;

-- name: KindResume :execrows
-- Lets a paused kind go on; 0 rows if it is not paused.
update job_kinds
set paused_at = null,
    paused_by = null,
    version = version + 1,
    updated_at = @now
where owner_id = @owner_id
    and name = @name
    and paused_at is not null;

-- name: KindSet :execrows
-- Replaces the settings of a kind, if it is still at the version that was read.
update job_kinds
set lease_seconds = @lease_seconds,
    max_attempts = @max_attempts,
    backoff_base_seconds = @backoff_base_seconds,
    backoff_cap_seconds = @backoff_cap_seconds,
    timeout_seconds = sqlc.narg(timeout_seconds),
    version = version + 1,
    updated_at = @updated_at
where owner_id = @owner_id
    and name = @name
    and version = @version;

-- name: KindWalk :many
-- The kinds of all owners from after (owner_id, name) on. Primary key.
select owner_id, name, created_at
from job_kinds
where (owner_id, name) > (@after_owner_id, @after_name)
order by owner_id, name
limit cast(@max as bigint);
