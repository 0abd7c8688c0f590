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
    started_at, completed_at, deadline_at, lease_expires_at;

-- name: RunFinish :execrows
-- Ends a run of a connection; the first end wins, and a generation that is not the
-- run's changes nothing.
update runs
set status = @status,
    terminal_reason = sqlc.narg(terminal_reason),
    error = @error,
    completed_at = @completed_at
where id = @id
    and owner_id || '' = @owner_id -- leaves the primary key as the only index
    and generation = @generation
    and status || '' = 'running';

-- name: RunGet :one
-- One run of an owner, with the lease of the job it works on.
select
    r.id, r.owner_id, r.kind, r.connection_id, r.job_id, r.external_run_id, r.status, r.attempt,
    r.worker, r.generation, r.terminal_reason, r.error, r.warning, r.facts, r.progress, r.scheduler_managed,
    r.origin, r.created_at, r.started_at, r.completed_at, r.deadline_at, r.lease_expires_at,
    j.state as job_state, j.lease_expires_at as job_lease_expires_at, j.progress as job_progress
from runs r
left join jobs j on j.id = r.job_id
where r.id = @id
    and r.owner_id = @owner_id;

-- name: RunGetActive :one
-- The running run of a connection. Index runs_running_connection.
select id, generation, lease_expires_at
from runs
where connection_id = @connection_id
    and owner_id || '' = @owner_id -- leaves that index as the only one
    and status = 'running';

-- name: RunGetByExternal :one
-- The run of a connection under the id that its runner gave it. Index runs_external.
select id
from runs
where connection_id = @connection_id
    and external_run_id = @external_run_id
    and owner_id || '' = @owner_id; -- leaves that index as the only one

-- name: RunGetByToken :one
-- The attempt of a job that held the lease of that token (SHA-256, hex).
-- Index runs_by_job.
select
    id, owner_id, kind, connection_id, job_id, external_run_id, status, attempt, worker,
    generation, terminal_reason, error, warning, facts, progress, scheduler_managed, origin, created_at,
    started_at, completed_at, deadline_at, lease_expires_at
from runs
where owner_id = @owner_id
    and job_id = @job_id
    and token_hash = @token_hash
order by created_at desc, id desc
limit 1;

-- name: RunInsert :exec
-- Opens a run of a connection.
insert into runs (
    id, owner_id, kind, connection_id, external_run_id, status, worker, generation, scheduler_managed, origin,
    event_seq, created_at, started_at, lease_expires_at
)
values (
    @id, @owner_id, @kind, @connection_id, sqlc.narg(external_run_id), 'running', sqlc.narg(worker), @generation, false, 'live',
    0, @now, @now, @lease_expires_at
);

-- name: RunListOverdue :many
-- Running runs of all owners' connections whose lease ran out before cutoff, or ends
-- after the latest end that one can have, from the connection after_id on. Index
-- runs_running_connection.
select id, owner_id, connection_id
from runs
where status = 'running'
    and (lease_expires_at < @cutoff or lease_expires_at > @latest)
    and connection_id > @after_id
order by connection_id
limit cast(@max as bigint);

-- name: RunPage :many
-- The runs, newest first. Index runs_by_created.
select
    r.id, r.owner_id, r.kind, r.connection_id, r.job_id, r.external_run_id, r.status, r.attempt,
    r.worker, r.generation, r.terminal_reason, r.error, r.warning, r.facts, r.progress, r.scheduler_managed,
    r.origin, r.created_at, r.started_at, r.completed_at, r.deadline_at, r.lease_expires_at,
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
    r.origin, r.created_at, r.started_at, r.completed_at, r.deadline_at, r.lease_expires_at,
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
    r.origin, r.created_at, r.started_at, r.completed_at, r.deadline_at, r.lease_expires_at,
    j.state as job_state, j.lease_expires_at as job_lease_expires_at, j.progress as job_progress
from runs r
left join jobs j on j.id = r.job_id
where r.owner_id = @owner_id
    and r.status = @status
    and (r.created_at, r.id) < (@before_at, coalesce(cast(@before_id as text), ''))
order by r.created_at desc, r.id desc
limit cast(@max as bigint);

-- name: RunRenew :one
-- A heartbeat of a run of a connection. A lease that ends later than the new one is
-- kept if it ends by kept.
update runs
set lease_expires_at = case
        when lease_expires_at > @lease_expires_at and lease_expires_at <= sqlc.narg(kept_at) then lease_expires_at
        else @lease_expires_at
    end
where id = @id
    and owner_id || '' = @owner_id -- leaves the primary key as the only index
    and generation = @generation
    and status || '' = 'running'
returning lease_expires_at;

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

-- name: RunWalkOfConnection :many
-- The runs of a connection, the latest generation first. Index runs_by_connection.
select id, status, generation
from runs
where coalesce(connection_id, '') = @connection_id
    and coalesce(connection_id, '') <> ''
    and generation < @before_generation
order by generation desc
limit cast(@max as bigint);
