-- name: JobCancel :one
-- Ends a job that nobody holds.
update jobs
set state = 'cancelled',
    waiting_for = null,
    actor = @actor,
    acted_at = @now,
    updated_at = @now,
    finished_at = @now
where id = @id
    and owner_id = @owner_id
    and state || '' = 'pending' -- leaves the primary key as the only index
returning *;

-- name: JobCountTroubled :one
-- How many jobs of an owner failed since, and how many leases ran out before
-- now or end after the latest end that one can have; each among the newest max jobs
-- that failed and that are claimed, with how many of those there are. Index
-- jobs_by_state.
select
    cast(f.walked as bigint) as failed_walked,
    cast(f.hits as bigint) as failed,
    cast(o.walked as bigint) as overdue_walked,
    cast(o.hits as bigint) as overdue
from (
    select count(*) as walked, count(x.hit) as hits
    from (
        select case when j.finished_at >= @since then 1 end as hit
        from jobs j
        where j.owner_id = @owner_id
            and j.state = 'failed'
        order by j.created_at desc, j.id desc
        limit cast(@max as bigint)
    ) x
) f
cross join (
    select count(*) as walked, count(x.hit) as hits
    from (
        select case when j.lease_expires_at < @now or j.lease_expires_at > @latest then 1 end as hit
        from jobs j
        where j.owner_id = @owner_id
            and j.state = 'claimed'
        order by j.created_at desc, j.id desc
        limit cast(@max as bigint)
    ) x
) o;

-- name: JobGet :one
-- One job of an owner.
select *
from jobs
where id = @id
    and owner_id = @owner_id;

-- name: JobGetByKey :one
-- The live job of a key. Index jobs_live_key.
select *
from jobs
where owner_id = @owner_id
    and key = @key
    and finished_at is null;

-- name: JobListHolders :many
-- Who holds the newest claimed jobs of an owner. Index jobs_by_state.
select claimed_by
from jobs
where owner_id = @owner_id
    and state = 'claimed'
order by created_at desc, id desc
limit cast(@max as bigint);

-- name: JobListOverdue :many
-- Leases of all owners that ran out before cutoff, or end after the latest end that
-- one can have: what the reaper has yet to take back. Index jobs_claimed.
select id, lease_expires_at
from jobs
where state = 'claimed'
    and (lease_expires_at < @cutoff or lease_expires_at > @latest)
order by id
limit cast(@max as bigint);

-- name: JobPage :many
-- The jobs, newest first. Index jobs_by_created.
select *
from jobs
where owner_id = @owner_id
    and (created_at, id) < (@before_at, coalesce(cast(@before_id as text), ''))
order by created_at desc, id desc
limit cast(@max as bigint);

-- name: JobPageByKey :many
-- Those of one key, ended ones too. Index jobs_by_key.
select *
from jobs
where owner_id = @owner_id
    and key = @key
    and (created_at, id) < (@before_at, coalesce(cast(@before_id as text), ''))
order by created_at desc, id desc
limit cast(@max as bigint);

-- name: JobPageByState :many
-- Those in one state. Index jobs_by_state.
select *
from jobs
where owner_id = @owner_id
    and state = @state
    and (created_at, id) < (@before_at, coalesce(cast(@before_id as text), ''))
order by created_at desc, id desc
limit cast(@max as bigint);

-- name: JobReplace :one
-- What a duplicate of a pending job replaces; attempt stays.
update jobs
set payload = @payload,
    priority = @priority,
    run_at = @run_at,
    max_attempts = @max_attempts,
    timeout_seconds = sqlc.narg(timeout_seconds),
    traceparent = sqlc.narg(traceparent),
    updated_at = @updated_at
where id = @id
    and owner_id = @owner_id
    and state || '' = 'pending' -- leaves the primary key as the only index
returning *;

-- name: JobRequestCancel :one
-- Asks the holder to stop; it hears so with its next heartbeat.
update jobs
set cancel_requested_at = @now,
    again = null,
    actor = @actor,
    acted_at = @now,
    updated_at = @now
where id = @id
    and owner_id = @owner_id
    and state || '' = 'claimed' -- leaves the primary key as the only index
    and cancel_requested_at is null
returning *;

-- name: JobRevive :one
-- Back to work by hand: an ended job from attempt 0, a waiting retry at once. The
-- key of an issue is that of its repository's present name.
update jobs
set state = 'pending',
    key = sqlc.narg(key),
    attempt = @attempt,
    run_at = @now,
    result = null,
    error = @error,
    progress = @progress,
    cancel_requested_at = null,
    finished_at = null,
    actor = @actor,
    acted_at = @now,
    updated_at = @now
where id = @id
    and owner_id = @owner_id
    and state = @expected_state
    and attempt = @expected_attempt
returning *;

-- name: JobSetAgain :one
-- Keeps what a duplicate of a claimed job asked for; the last one wins.
update jobs
set again = @again, updated_at = @updated_at
where id = @id
    and owner_id = @owner_id
    and state || '' = 'claimed' -- leaves the primary key as the only index
    and lease_token = @lease_token
returning *;

-- name: JobSettle :one
-- The end of a claim, by its holder or by the reaper. Every member was worked
-- out from the row as it was read; the lease that was read is the fence.
update jobs
set state = @state,
    payload = @payload,
    priority = @priority,
    run_at = @run_at,
    attempt = @attempt,
    max_attempts = @max_attempts,
    timeout_seconds = sqlc.narg(timeout_seconds),
    traceparent = sqlc.narg(traceparent),
    result = @result,
    error = @error,
    progress = @progress,
    followed_by = sqlc.narg(followed_by),
    cancel_requested_at = @cancel_requested_at,
    finished_at = @finished_at,
    updated_at = @updated_at,
    again = null,
    lease_token = null,
    claimed_by = null,
    lease_expires_at = null
where id = @id
    and owner_id || '' = @owner_id -- leaves the primary key as the only index
    and state || '' = 'claimed'
    and lease_token = @lease_token
    and lease_expires_at = @lease_expires_at
returning *;

-- name: JobWalk :many
-- What a filter that no index leads with looks at. Index jobs_by_created.
select id, kind, state, repo_id, created_at
from jobs
where owner_id = @owner_id
    and (created_at, id) < (@before_at, coalesce(cast(@before_id as text), ''))
order by created_at desc, id desc
limit cast(@max as bigint);

-- name: JobWalkByKey :many
-- The same within one key. Index jobs_by_key.
select id, kind, state, repo_id, created_at
from jobs
where owner_id = @owner_id
    and key = @key
    and (created_at, id) < (@before_at, coalesce(cast(@before_id as text), ''))
order by created_at desc, id desc
limit cast(@max as bigint);

-- name: JobWalkByState :many
-- The same within one state. Index jobs_by_state.
select id, kind, state, repo_id, created_at
from jobs
where owner_id = @owner_id
    and state = @state
    and (created_at, id) < (@before_at, coalesce(cast(@before_id as text), ''))
order by created_at desc, id desc
limit cast(@max as bigint);
