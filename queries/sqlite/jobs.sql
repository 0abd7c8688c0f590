-- name: JobClaim :many
-- Claims up to max due jobs. probes is a JSON list of {kind, priority,
-- lease_seconds, floor} in the order to be served: each is one index seek that
-- begins at run_at floor, in microseconds. Rows that another claim has locked are
-- passed over. No lease is longer than the time limit of its job. Index jobs_claim.
update jobs
set state = 'claimed',
    attempt = jobs.attempt + 1,
    lease_token = cast(@nonce as text) || '.' || jobs.id,
    claimed_by = cast(@worker as text),
    lease_expires_at = cast(@now as integer) + 1000000 * (
        select min(max(cast(l.value ->> '$.lease_seconds' as integer)), coalesce(jobs.timeout_seconds, 604800)) -- no lease is as long
        from json_each(cast(@probes as text)) l
        where l.value ->> '$.kind' = jobs.kind
    ),
    updated_at = @now
where jobs.state = 'pending'
    and jobs.id in (
        select j.id
        from json_each(cast(@probes as text)) t
        cross join jobs j indexed by jobs_claim
        where j.owner_id = @owner_id
            and j.state = 'pending'
            and j.waiting_for is null
            and j.kind = t.value ->> '$.kind'
            and j.priority = cast(t.value ->> '$.priority' as integer)
            and j.run_at <= @now
            and j.run_at >= cast(t.value ->> '$.floor' as integer)
        limit cast(@max as bigint)
    )
returning *;

-- name: JobCompleteMany :many
-- Completes claims of an owner under their tokens, and holds every job that is
-- named, whatever its state, until the transaction ends. rows is a JSON object of
-- {lease_token, result} by job id, in the order of ids, in which the rows are locked.
-- A job whose again is set is left to JobSettle. The times are not before the last
-- change of the row, unless that is after latest. Primary key.
insert into jobs ( -- sqlc takes no update from rows: each row is there, and its id conflicts
    id, owner_id, kind, state, payload, priority, run_at, attempt, max_attempts, result, created_at, updated_at, finished_at
)
select
    j.id, j.owner_id, j.kind, 'succeeded', j.payload, j.priority, j.run_at, j.attempt, j.max_attempts,
    t.value ->> '$.result', j.created_at,
    case when j.updated_at > @now and j.updated_at <= @latest then j.updated_at else @now end,
    case when j.updated_at > @now and j.updated_at <= @latest then j.updated_at else @now end
from json_each(cast(@rows as text)) t
cross join jobs j
where j.id = t.key
    and +j.owner_id = @owner_id -- the pluses leave the primary key as the only index
    and +j.state = 'claimed'
    and j.again is null
    and j.lease_token = t.value ->> '$.lease_token'
on conflict (id) do update
set state = excluded.state,
    result = excluded.result,
    error = null,
    finished_at = excluded.finished_at,
    updated_at = excluded.updated_at,
    lease_token = null,
    claimed_by = null,
    lease_expires_at = null
where jobs.state = 'claimed'
returning *;

-- name: JobCountDue :many
-- How many jobs are due for each probe of a JSON list of {owner_id, kind,
-- priority}, counted up to max for each, in no order. Index jobs_claim.
select
    cast(t.value ->> '$.kind' as text) as kind,
    cast((
        select count(*)
        from (
            select 1
            from jobs j indexed by jobs_claim
            where j.owner_id = t.value ->> '$.owner_id'
                and j.state = 'pending'
                and j.waiting_for is null
                and j.kind = t.value ->> '$.kind'
                and j.priority = cast(t.value ->> '$.priority' as integer)
                and j.run_at <= @now
            limit cast(@max as bigint)
        )
    ) as integer) as due
from json_each(cast(@probes as text)) t;

-- name: JobCountIssues :one
-- How many live jobs have a key between two texts, up to max: those of a
-- repository's issues. Index jobs_live_key.
select count(*)
from (
    select 1
    from jobs j indexed by jobs_live_key
    where j.owner_id = @owner_id
        and j.key >= cast(@first_key as text)
        and j.key < cast(@end_key as text)
        and j.finished_at is null
    limit cast(@max as bigint)
) found;

-- name: JobInsertMany :many
-- Enqueues a JSON list of jobs and returns those that are new: a row whose key
-- is live is left out. Waits for a transaction that is enqueueing the key.
insert into jobs (
    id, owner_id, kind, state, key, repo_id, issue_number, payload, priority, run_at,
    attempt, max_attempts, timeout_seconds, follows, traceparent, created_at, updated_at
)
select
    t.value ->> '$.id', @owner_id, t.value ->> '$.kind', 'pending', t.value ->> '$.key', t.value ->> '$.repo_id',
    t.value ->> '$.issue_number', t.value ->> '$.payload', t.value ->> '$.priority',
    t.value ->> '$.run_at', 0, t.value ->> '$.max_attempts',
    t.value ->> '$.timeout_seconds', t.value ->> '$.follows', t.value ->> '$.traceparent', @now, @now
from json_each(cast(@rows as text)) t
where true
on conflict (owner_id, key) where finished_at is null do nothing
returning *;

-- name: JobListByIDs :many
-- The jobs of a JSON list of ids, unordered. Primary key.
select j.*
from jobs j
where +j.owner_id = @owner_id -- the plus leaves the primary key as the only index
    and j.id in (select t.value from json_each(cast(@ids as text)) t);

-- name: JobListFirstDue :many
-- The job that is due the longest for each probe of a JSON list of {owner_id,
-- kind, priority}, in no order; a probe without one has no row. Index jobs_claim.
select f.owner_id, f.kind, f.priority, f.run_at
from json_each(cast(@probes as text)) t
cross join jobs f
where f.id = (
    select j.id
    from jobs j indexed by jobs_claim
    where j.owner_id = t.value ->> '$.owner_id'
        and j.state = 'pending'
        and j.waiting_for is null
        and j.kind = t.value ->> '$.kind'
        and j.priority = cast(t.value ->> '$.priority' as integer)
        and j.run_at <= @now
    order by j.run_at, j.id
    limit 1
);

-- name: JobLock :one
-- One job of an owner, held for this transaction until it ends.
select *
from jobs
where id = @id
    and owner_id = @owner_id;

-- name: JobLockByKeys :many
-- The live jobs of a JSON list of keys, held for this transaction until it ends.
-- Where rows lock, they do in the order of ids, as for whoever ends claims.
-- Index jobs_live_key.
select j.*
from jobs j indexed by jobs_live_key
where j.owner_id = @owner_id
    and j.key in (select t.value from json_each(cast(@keys as text)) t)
    and j.finished_at is null;

-- name: JobLockIssues :many
-- The live jobs of a repository's issues, whose keys lie between two texts, held
-- for this transaction until it ends. Where rows lock, they do in the order of
-- ids, as for whoever ends claims. Index jobs_live_key.
select j.id, j.kind
from jobs j indexed by jobs_live_key
where j.owner_id = @owner_id
    and j.key >= cast(@first_key as text)
    and j.key < cast(@end_key as text)
    and j.finished_at is null
limit cast(@max as bigint);

-- name: JobLockOverdue :many
-- Claimed jobs of all owners whose lease ran out before cutoff, or ends after the
-- latest end that one can have, from after_id on, held for this transaction, with
-- the deadlines of their attempts; those that another one holds are passed over.
-- Indexes jobs_claimed and runs_running_job.
select sqlc.embed(j), r.deadline_at
from jobs j
left join runs r on r.owner_id = j.owner_id and r.job_id = j.id and r.status = 'running'
where j.state = 'claimed'
    and (j.lease_expires_at < @cutoff or j.lease_expires_at > @latest)
    and j.id > @after_id
order by j.id
limit cast(@max as bigint);

-- name: JobRekey :execrows
-- Gives jobs of a JSON list of ids the keys of their issues in another repository
-- name: prefix is what stands before the number. Primary key.
update jobs
set key = cast(@prefix as text) || cast(issue_number as text),
    updated_at = case when updated_at > @now and updated_at <= @latest then updated_at else @now end
where +owner_id = @owner_id -- the plus leaves the primary key as the only index
    and id in (select t.value from json_each(cast(@ids as text)) t)
    and finished_at is null;

-- name: JobRenew :one
-- A heartbeat: one statement, heap-only. A call by anybody but the holder changes
-- nothing. Without lease_seconds the lease of the kind counts, and never makes a
-- longer one shorter, unless that ends after the latest end that one can have;
-- without progress the last progress stays. No lease reaches beyond the deadline of
-- its run. Index runs_running_job.
update jobs
set lease_expires_at = min(
        coalesce(
            cast(@now as integer) + 1000000 * cast(sqlc.narg(lease_seconds) as integer),
            max(case when jobs.lease_expires_at <= @latest then jobs.lease_expires_at else 0 end, cast(@now as integer) + 1000000 * (
                select k.lease_seconds
                from job_kinds k
                where k.owner_id = jobs.owner_id and k.name = jobs.kind
            ))
        ),
        coalesce((
            select d.deadline_at
            from runs d
            where d.owner_id = jobs.owner_id and d.job_id = jobs.id and d.status = 'running'
        ), 253402300799999999) -- the last time there is
    ),
    progress = coalesce(@progress, jobs.progress),
    updated_at = @now
where jobs.id = @id
    and jobs.owner_id = @owner_id
    and jobs.state = 'claimed'
    and jobs.lease_token = @lease_token
returning
    jobs.lease_expires_at, jobs.cancel_requested_at, jobs.claimed_by,
    (
        select d.deadline_at
        from runs d
        where d.owner_id = jobs.owner_id and d.job_id = jobs.id and d.status = 'running'
    ) as deadline_at;
