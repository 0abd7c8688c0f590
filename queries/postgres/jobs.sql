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
    lease_expires_at = cast(@now as timestamptz) + least(jobs.timeout_seconds, (
        select max(cast(l.x ->> 'lease_seconds' as bigint))
        from json_array_elements(cast(cast(@probes as text) as json)) l(x)
        where l.x ->> 'kind' = jobs.kind
    )) * interval '1 second',
    updated_at = @now
where jobs.state || '' = 'pending' -- leaves the primary key as the only index
    and jobs.id = any(array(
        select c.id
        from json_array_elements(cast(cast(@probes as text) as json)) t(x)
        cross join lateral (
            select j.id
            from jobs j
            where j.owner_id = @owner_id
                and coalesce(j.waiting_for, j.state) = 'pending'
                and j.kind = t.x ->> 'kind'
                and j.priority = cast(t.x ->> 'priority' as bigint)
                and j.run_at <= @now
                and j.run_at >= from_us(cast(t.x ->> 'floor' as bigint))
            order by j.run_at, j.id
            limit cast(@max as bigint)
            for update skip locked
        ) c
        limit cast(@max as bigint)
    ))
returning jobs.*;

-- name: JobCompleteMany :many
-- Completes claims of an owner under their tokens, and holds every job that is
-- named, whatever its state, until the transaction ends. rows is a JSON object of
-- {lease_token, result} by job id, in the order of ids, in which the rows are locked.
-- A job whose again is set is left to JobSettle. The times are not before the last
-- change of the row, unless that is after latest. Primary key.
update jobs
set state = 'succeeded',
    error = null,
    finished_at = greatest(cast(@now as timestamptz), case when jobs.updated_at <= @latest then jobs.updated_at end),
    updated_at = greatest(cast(@now as timestamptz), case when jobs.updated_at <= @latest then jobs.updated_at end),
    result = cast((select cast(cast(@rows as text) as jsonb)) -> jobs.id ->> 'result' as json),
    lease_token = null,
    claimed_by = null,
    lease_expires_at = null
where jobs.state || '' = 'claimed' -- leaves the primary key as the only index
    and jobs.again is null
    and jobs.lease_token = (select cast(cast(@rows as text) as jsonb)) -> jobs.id ->> 'lease_token'
    and jobs.id = any(array(
        select l.id
        from json_object_keys(cast(cast(@rows as text) as json)) t(id)
        cross join lateral (
            select j.id
            from jobs j
            where j.id = t.id
                and j.owner_id || '' = @owner_id
            limit 1
            for update
        ) l
    ))
returning jobs.*;

-- name: JobCountDue :many
-- How many jobs are due for each probe of a JSON list of {owner_id, kind,
-- priority}, counted up to max for each, in no order. Index jobs_claim.
select
    cast(t.x ->> 'kind' as text) as kind,
    cast((
        select count(*)
        from (
            select 1
            from jobs j
            where j.owner_id = t.x ->> 'owner_id'
                and coalesce(j.waiting_for, j.state) = 'pending'
                and j.kind = t.x ->> 'kind'
                and j.priority = cast(t.x ->> 'priority' as bigint)
                and j.run_at <= @now
            limit cast(@max as bigint)
        ) found
    ) as bigint) as due
from json_array_elements(cast(cast(@probes as text) as json)) t(x);

-- name: JobCountIssues :one
-- How many live jobs have a key between two texts, up to max: those of a
-- repository's issues. Index jobs_live_key.
select count(*)
from (
    select 1
    from jobs j
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
    x ->> 'id', cast(@owner_id as text), x ->> 'kind', 'pending', x ->> 'key', x ->> 'repo_id',
    cast(x ->> 'issue_number' as bigint), cast(x ->> 'payload' as json), cast(x ->> 'priority' as bigint),
    from_us(cast(x ->> 'run_at' as bigint)), 0, cast(x ->> 'max_attempts' as bigint),
    cast(x ->> 'timeout_seconds' as bigint), x ->> 'follows', x ->> 'traceparent', cast(@now as timestamptz), cast(@now as timestamptz)
from json_array_elements(cast(cast(@rows as text) as json)) t(x)
on conflict (owner_id, key) where finished_at is null do nothing
returning *;

-- name: JobListByIDs :many
-- The jobs of a JSON list of ids, unordered. Primary key.
select j.*
from jobs j
where j.owner_id || '' = @owner_id -- leaves the primary key as the only index
    and j.id = any(array(select json_array_elements_text(cast(cast(@ids as text) as json))));

-- name: JobListFirstDue :many
-- The job that is due the longest for each probe of a JSON list of {owner_id,
-- kind, priority}, in no order; a probe without one has no row. Index jobs_claim.
select c.owner_id, c.kind, c.priority, c.run_at
from json_array_elements(cast(cast(@probes as text) as json)) t(x)
cross join lateral (
    select j.owner_id, j.kind, j.priority, j.run_at
    from jobs j
    where j.owner_id = t.x ->> 'owner_id'
        and coalesce(j.waiting_for, j.state) = 'pending'
        and j.kind = t.x ->> 'kind'
        and j.priority = cast(t.x ->> 'priority' as bigint)
        and j.run_at <= @now
    order by j.run_at, j.id
    limit 1
) c;

-- name: JobLock :one
-- One job of an owner, held for this transaction until it ends.
select *
from jobs
where id = @id
    and owner_id || '' = @owner_id -- leaves the primary key as the only index
for update;

-- name: JobLockByKeys :many
-- The live jobs of a JSON list of keys, held for this transaction until it ends.
-- Where rows lock, they do in the order of ids, as for whoever ends claims.
-- Index jobs_live_key.
select j.*
from jobs j
where j.owner_id || '' = @owner_id -- leaves the primary key as the only index
    and j.state || '' in ('pending', 'claimed') -- live; finished_at would offer jobs_live_key
    and j.id = any(array(
        select l.id
        from json_array_elements_text(cast(cast(@keys as text) as json)) t(key)
        cross join lateral (
            select i.id
            from jobs i
            where i.owner_id = @owner_id
                and i.key = t.key
                and i.finished_at is null
            limit 1
        ) l
    ))
order by j.id
for update;

-- name: JobLockIssues :many
-- The live jobs of a repository's issues, whose keys lie between two texts, held
-- for this transaction until it ends. Where rows lock, they do in the order of
-- ids, as for whoever ends claims. Index jobs_live_key.
select j.id, j.kind
from jobs j
where j.owner_id || '' = @owner_id -- leaves the primary key as the only index
    and j.state || '' in ('pending', 'claimed') -- live; finished_at would offer jobs_live_key
    and j.id = any(array(
        select i.id
        from jobs i
        where i.owner_id = @owner_id
            and i.key >= cast(@first_key as text)
            and i.key < cast(@end_key as text)
            and i.finished_at is null
        limit cast(@max as bigint)
    ))
order by j.id
for update;

-- name: JobLockOverdue :many
-- Claimed jobs of all owners whose lease ran out before cutoff, or ends after the
-- latest end that one can have, from after_id on, held for this transaction, with
-- the deadlines of their attempts; those that another one holds are passed over.
-- Indexes jobs_claimed and runs_running_job.
select sqlc.embed(j), r.deadline_at
from jobs j
left join lateral ( -- one seek a job, whatever the statistics
    select d.deadline_at
    from runs d
    where d.owner_id = j.owner_id
        and d.job_id = j.id
        and d.status = 'running'
    limit 1
) r on true
where j.state = 'claimed'
    and (j.lease_expires_at < @cutoff or j.lease_expires_at > @latest)
    and j.id > @after_id
order by j.id
limit cast(@max as bigint)
for update of j skip locked;

-- name: JobRekey :execrows
-- Gives jobs of a JSON list of ids the keys of their issues in another repository
-- name: prefix is what stands before the number. Primary key.
update jobs
set key = cast(@prefix as text) || cast(issue_number as text),
    updated_at = case when updated_at > @now and updated_at <= @latest then updated_at else @now end
where owner_id || '' = @owner_id -- leaves the primary key as the only index
    and state || '' in ('pending', 'claimed') -- live; finished_at would offer jobs_live_key
    and id = any(array(select json_array_elements_text(cast(cast(@ids as text) as json))));

-- name: JobRenew :one
-- A heartbeat: one statement, heap-only. A call by anybody but the holder changes
-- nothing. Without lease_seconds the lease of the kind counts, and never makes a
-- longer one shorter, unless that ends after the latest end that one can have;
-- without progress the last progress stays. No lease reaches beyond the deadline of
-- its run. Index runs_running_job.
update jobs
set lease_expires_at = least(d.deadline_at, coalesce(
        cast(@now as timestamptz) + cast(sqlc.narg(lease_seconds) as bigint) * interval '1 second',
        greatest(case when jobs.lease_expires_at <= @latest then jobs.lease_expires_at end, cast(@now as timestamptz) + (
            select k.lease_seconds
            from job_kinds k
            where k.owner_id = jobs.owner_id and k.name = jobs.kind
        ) * interval '1 second')
    )),
    progress = coalesce(@progress, jobs.progress),
    updated_at = @now
from (select 1) one
left join runs d on d.owner_id = @owner_id and d.job_id = @id and d.status = 'running'
where jobs.id = @id
    and jobs.owner_id || '' = @owner_id -- leaves the primary key as the only index
    and jobs.state || '' = 'claimed'
    and jobs.lease_token = @lease_token
returning jobs.lease_expires_at, jobs.cancel_requested_at, jobs.claimed_by, d.deadline_at;
