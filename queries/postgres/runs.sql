-- name: RunHold :one
-- A run of a connection, held for this transaction as it is: what would end it
-- waits, so it is the fence of whatever is written for the run. Writers and those who
-- end it take turns; under a shared lock an end would wait for as long as writers come.
select status, generation
from runs
where id = @id
    and owner_id || '' = @owner_id -- leaves the primary key as the only index
    and connection_id || '' = @connection_id
for no key update;

-- name: RunInsertMany :execrows
-- Opens the runs of a JSON list of claimed jobs.
insert into runs (
    id, owner_id, kind, job_id, status, attempt, worker, token_hash, scheduler_managed, origin,
    event_seq, created_at, started_at, deadline_at
)
select
    x ->> 'id', cast(@owner_id as text), 'job', x ->> 'job_id', 'running', cast(x ->> 'attempt' as bigint),
    cast(@worker as text), x ->> 'token_hash', false, 'live', 0, cast(@now as timestamptz), cast(@now as timestamptz),
    from_us(cast(x ->> 'deadline_at' as bigint))
from json_array_elements(cast(cast(@rows as text) as json)) t(x);

-- name: RunListByIDs :many
-- The runs of a JSON list of ids, unordered. Primary key.
select
    r.id, r.owner_id, r.kind, r.connection_id, r.job_id, r.external_run_id, r.status, r.attempt,
    r.worker, r.generation, r.terminal_reason, r.error, r.warning, r.facts, r.progress, r.scheduler_managed,
    r.origin, r.created_at, r.started_at, r.completed_at, r.deadline_at, r.lease_expires_at,
    j.state as job_state, j.lease_expires_at as job_lease_expires_at, j.progress as job_progress
from runs r
left join jobs j on j.id = r.job_id
where r.owner_id || '' = @owner_id -- leaves the primary key as the only index
    and r.id = any(array(select json_array_elements_text(cast(cast(@ids as text) as json))));

-- name: RunLockActive :one
-- The running run of a connection, held for this transaction, which may end it.
-- Index runs_running_connection.
select id, generation, lease_expires_at
from runs
where connection_id = @connection_id
    and owner_id || '' = @owner_id -- leaves that index as the only one
    and status = 'running'
for update;

-- name: RunLockByToken :one
-- The running attempt of a job under the lease of that token (SHA-256, hex), held
-- for this transaction until it ends: what ends the attempt waits for it, so it is
-- the fence of whatever is written for the attempt. Index runs_running_job.
select id
from runs
where job_id = @job_id
    and owner_id = @owner_id
    and token_hash = @token_hash
    and status = 'running'
for update;

-- name: RunLockOverdue :one
-- A running run whose lease ran out before cutoff, or ends after the latest end that
-- one can have, held for this transaction. Primary key.
select id, generation
from runs
where id = @id
    and owner_id || '' = @owner_id -- leaves the primary key as the only index
    and status || '' = 'running'
    and (lease_expires_at < @cutoff or lease_expires_at > @latest)
for update;

-- name: RunSucceedMany :many
-- Ends the running attempts of jobs of an owner: they succeeded. rows is a JSON
-- object of {completed_at, warning, progress} by job id, times in microseconds.
-- Index runs_running_job.
update runs
set status = 'succeeded',
    terminal_reason = null,
    error = null,
    warning = (select cast(cast(@rows as text) as jsonb)) -> runs.job_id ->> 'warning',
    progress = cast((select cast(cast(@rows as text) as jsonb)) -> runs.job_id ->> 'progress' as json),
    completed_at = from_us(cast((select cast(cast(@rows as text) as jsonb)) -> runs.job_id ->> 'completed_at' as bigint))
where runs.status || '' = 'running' -- leaves the primary key as the only index
    and runs.id = any(array(
        select l.id
        from json_object_keys(cast(cast(@rows as text) as json)) t(job_id)
        cross join lateral (
            select r.id
            from runs r
            where r.owner_id = @owner_id
                and r.job_id = t.job_id
                and r.status = 'running'
            limit 1
        ) l
    ))
returning
    id, owner_id, kind, connection_id, job_id, external_run_id, status, attempt, worker,
    generation, terminal_reason, error, warning, facts, progress, scheduler_managed, origin, created_at,
    started_at, completed_at, deadline_at, lease_expires_at;
