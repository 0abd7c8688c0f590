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
    r.origin, r.created_at, r.started_at, r.completed_at, r.deadline_at,
    j.state as job_state, j.lease_expires_at as job_lease_expires_at, j.progress as job_progress
from runs r
left join jobs j on j.id = r.job_id
where r.owner_id || '' = @owner_id -- leaves the primary key as the only index
    and r.id = any(array(select json_array_elements_text(cast(cast(@ids as text) as json))));

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
