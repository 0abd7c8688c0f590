-- name: RunEnd :one
-- Ends the running attempt of a job; the first end wins. Index runs_running_job.
update runs
set status = @status,
    terminal_reason = sqlc.narg(terminal_reason),
    error = @error,
    warning = sqlc.narg(warning),
    progress = @progress,
    completed_at = @completed_at
where job_id = @job_id
    and owner_id = @owner_id
    and status = 'running'
returning
    id, owner_id, kind, connection_id, job_id, external_run_id, status, attempt, worker,
    generation, terminal_reason, error, warning, facts, progress, scheduler_managed, origin, created_at,
    started_at, completed_at, deadline_at;

-- name: RunGet :one
-- One run of an owner, with the lease of the job it works on.
select
    r.id, r.owner_id, r.kind, r.connection_id, r.job_id, r.external_run_id, r.status, r.attempt,
    r.worker, r.generation, r.terminal_reason, r.error, r.warning, r.facts, r.progress, r.scheduler_managed,
    r.origin, r.created_at, r.started_at, r.completed_at, r.deadline_at,
    j.state as job_state, j.lease_expires_at as job_lease_expires_at, j.progress as job_progress
from runs r
left join jobs j on j.id = r.job_id
where r.id = @id
    and r.owner_id = @owner_id;

-- name: RunGetByToken :one
-- The attempt of a job that held the lease of that token (SHA-256, hex).
-- Index runs_by_job.
select
    id, owner_id, kind, connection_id, job_id, external_run_id, status, attempt, worker,
    generation, terminal_reason, error, warning, facts, progress, scheduler_managed, origin, created_at,
    started_at, completed_at, deadline_at
from runs
where owner_id = @owner_id
    and job_id = @job_id
    and token_hash = @token_hash
order by created_at desc, id desc
limit 1;

-- name: RunPage :many
-- The runs, newest first. Index runs_by_created.
select
    r.id, r.owner_id, r.kind, r.connection_id, r.job_id, r.external_run_id, r.status, r.attempt,
    r.worker, r.generation, r.terminal_reason, r.error, r.warning, r.facts, r.progress, r.scheduler_managed,
    r.origin, r.created_at, r.started_at, r.completed_at, r.deadline_at,
    j.state as job_state, j.lease_expires_at as job_lease_expires_at, j.progress as job_progress
from runs r
left join jobs j on j.id = r.job_id
where r.owner_id = @owner_id
    and (r.created_at, r.id) < (@before_at, coalesce(cast(@before_id as text), ''))
order by r.created_at desc, r.id desc
limit cast(@max as bigint);

-- name: RunPageByJob :many
-- The attempts of one job. Index runs_by_job.
select
    r.id, r.owner_id, r.kind, r.connection_id, r.job_id, r.external_run_id, r.status, r.attempt,
    r.worker, r.generation, r.terminal_reason, r.error, r.warning, r.facts, r.progress, r.scheduler_managed,
    r.origin, r.created_at, r.started_at, r.completed_at, r.deadline_at,
    j.state as job_state, j.lease_expires_at as job_lease_expires_at, j.progress as job_progress
from runs r
left join jobs j on j.id = r.job_id
where r.owner_id = @owner_id
    and r.job_id = @job_id
    and (r.created_at, r.id) < (@before_at, coalesce(cast(@before_id as text), ''))
order by r.created_at desc, r.id desc
limit cast(@max as bigint);

-- name: RunPageByStatus :many
-- Those of one recorded status. Index runs_by_status.
select
    r.id, r.owner_id, r.kind, r.connection_id, r.job_id, r.external_run_id, r.status, r.attempt,
    r.worker, r.generation, r.terminal_reason, r.error, r.warning, r.facts, r.progress, r.scheduler_managed,
    r.origin, r.created_at, r.started_at, r.completed_at, r.deadline_at,
    j.state as job_state, j.lease_expires_at as job_lease_expires_at, j.progress as job_progress
from runs r
left join jobs j on j.id = r.job_id
where r.owner_id = @owner_id
    and r.status = @status
    and (r.created_at, r.id) < (@before_at, coalesce(cast(@before_id as text), ''))
order by r.created_at desc, r.id desc
limit cast(@max as bigint);

-- name: RunWalk :many
-- What a filter that no index leads with looks at. Index runs_by_created.
select id, kind, status, created_at
from runs
where owner_id = @owner_id
    and (created_at, id) < (@before_at, coalesce(cast(@before_id as text), ''))
order by created_at desc, id desc
limit cast(@max as bigint);

-- name: RunWalkByJob :many
-- The same within one job. Index runs_by_job.
select id, kind, status, created_at
from runs
where owner_id = @owner_id
    and job_id = @job_id
    and (created_at, id) < (@before_at, coalesce(cast(@before_id as text), ''))
order by created_at desc, id desc
limit cast(@max as bigint);

-- name: RunWalkByStatus :many
-- The same within one recorded status. Index runs_by_status.
select id, kind, status, created_at
from runs
where owner_id = @owner_id
    and status = @status
    and (created_at, id) < (@before_at, coalesce(cast(@before_id as text), ''))
order by created_at desc, id desc
limit cast(@max as bigint);
