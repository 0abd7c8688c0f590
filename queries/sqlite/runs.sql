-- name: RunHold :one
-- A run of a connection, held for this transaction as it is: what would end it
-- waits, so it is the fence of whatever is written for the run. Writers and those who
-- end it take turns; under a shared lock an end would wait for as long as writers come.
select status, generation
from runs
where id = @id
    and owner_id || '' = @owner_id -- leaves the primary key as the only index
    and connection_id || '' = @connection_id;

-- name: RunInsertMany :execrows
-- Opens the runs of a JSON list of claimed jobs.
insert into runs (
    id, owner_id, kind, job_id, status, attempt, worker, token_hash, scheduler_managed, origin,
    event_seq, created_at, started_at, deadline_at
)
select
    t.value ->> '$.id', cast(@owner_id as text), 'job', t.value ->> '$.job_id', 'running', t.value ->> '$.attempt',
    cast(@worker as text), t.value ->> '$.token_hash', 0, 'live', 0, @now, @now,
    t.value ->> '$.deadline_at'
from json_each(cast(@rows as text)) t;

-- name: RunListByIDs :many
-- The runs of a JSON list of ids, unordered. Primary key.
select
    r.id, r.owner_id, r.kind, r.connection_id, r.job_id, r.external_run_id, r.status, r.attempt,
    r.worker, r.generation, r.terminal_reason, r.error, r.warning, r.facts, r.progress, r.scheduler_managed,
    r.origin, r.created_at, r.started_at, r.completed_at, r.deadline_at, r.lease_expires_at,
    j.state as job_state, j.lease_expires_at as job_lease_expires_at, j.progress as job_progress
from runs r
left join jobs j on j.id = r.job_id
where +r.owner_id = @owner_id -- the plus leaves the primary key as the only index
    and r.id in (select t.value from json_each(cast(@ids as text)) t);

-- name: RunLockActive :one
-- The running run of a connection, held for this transaction, which may end it.
-- Index runs_running_connection.
select id, generation, lease_expires_at
from runs
where connection_id = @connection_id
    and owner_id || '' = @owner_id -- leaves that index as the only one
    and status = 'running';

-- name: RunLockByToken :one
-- The running attempt of a job under the lease of that token (SHA-256, hex), held
-- for this transaction until it ends: what ends the attempt waits for it, so it is
-- the fence of whatever is written for the attempt. Index runs_running_job.
select id
from runs
where job_id = @job_id
    and owner_id = @owner_id
    and token_hash = @token_hash
    and status = 'running';

-- name: RunLockOverdue :one
-- A running run whose lease ran out before cutoff, or ends after the latest end that
-- one can have, held for this transaction. Primary key.
select id, generation
from runs
where id = @id
    and owner_id || '' = @owner_id -- leaves the primary key as the only index
    and status || '' = 'running'
    and (lease_expires_at < @cutoff or lease_expires_at > @latest);

-- name: RunSucceedMany :many
-- Ends the running attempts of jobs of an owner: they succeeded. rows is a JSON
-- object of {completed_at, warning, progress} by job id, times in microseconds.
-- Index runs_running_job.
insert into runs ( -- sqlc takes no update from rows: each row is there, and its id conflicts
    id, owner_id, kind, status, warning, progress, scheduler_managed, origin, event_seq, created_at, started_at, completed_at
)
select
    r.id, r.owner_id, r.kind, 'succeeded', t.value ->> '$.warning', t.value ->> '$.progress',
    r.scheduler_managed, r.origin, r.event_seq, r.created_at, r.started_at, t.value ->> '$.completed_at'
from json_each(cast(@rows as text)) t
cross join runs r
where r.owner_id = @owner_id
    and r.job_id = t.key
    and r.status = 'running'
on conflict (id) do update
set status = excluded.status,
    terminal_reason = null,
    error = null,
    warning = excluded.warning,
    progress = excluded.progress,
    completed_at = excluded.completed_at
where runs.status = 'running'
returning
    id, owner_id, kind, connection_id, job_id, external_run_id, status, attempt, worker,
    generation, terminal_reason, error, warning, facts, progress, scheduler_managed, origin, created_at,
    started_at, completed_at, deadline_at, lease_expires_at;
