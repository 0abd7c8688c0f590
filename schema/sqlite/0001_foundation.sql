-- migrate:up

-- Twin of schema/postgres/0001_foundation.sql. Tables are STRICT; times (*_at)
-- are integer microseconds since the Unix epoch; JSON is text as it was sent.

create table owners (
    id text primary key,
    name text not null,
    created_at integer not null,
    constraint owners_name_key unique (name)
) strict;

create table tokens (
    id text primary key,
    owner_id text not null references owners (id),
    name text not null,
    hash text not null,
    scopes text not null,
    created_at integer not null,
    expires_at integer,
    last_used_at integer,
    revoked_at integer,
    constraint tokens_hash_key unique (hash)
) strict;
-- TokenPage
create index tokens_by_created on tokens (owner_id, created_at, id);

create table meta (
    key text primary key,
    value text not null
) strict;

-- status 0: the request that took the key is still at work, in the
-- transaction that inserted the row. No other transaction ever sees a 0.
create table idempotency_keys (
    owner_id text not null references owners (id),
    principal text not null,
    route text not null,
    key text not null,
    fingerprint text not null,
    status integer not null,
    body text not null,
    primary key (owner_id, principal, route, key),
    constraint idempotency_keys_status_check check (status = 0 or status between 200 and 499)
) strict;

create table repos (
    id text primary key,
    owner_id text not null references owners (id),
    forge text not null,
    host text not null,
    namespace text not null,
    name text not null,
    default_stream text,
    labels_synced_at integer,
    created_at integer not null,
    updated_at integer not null,
    constraint repos_forge_check check (forge in ('github', 'gitea', 'forgejo', 'gitlab'))
) strict;
-- RepoInsert, RepoGetByName: one row per repository however its name is spelled.
create unique index repos_identity on repos (owner_id, forge, host, lower(namespace), lower(name));

create table job_kinds (
    owner_id text not null references owners (id),
    name text not null,
    lease_seconds integer not null,
    max_attempts integer not null,
    backoff_base_seconds integer not null,
    backoff_cap_seconds integer not null,
    paused_at integer,
    paused_by text,
    version integer not null,
    created_at integer not null,
    updated_at integer not null,
    primary key (owner_id, name),
    constraint job_kinds_lease_check check (lease_seconds between 10 and 86400),
    constraint job_kinds_attempts_check check (max_attempts between 1 and 100),
    constraint job_kinds_backoff_check check (backoff_base_seconds between 1 and backoff_cap_seconds and backoff_cap_seconds <= 2592000)
) strict;

create table jobs (
    id text primary key,
    owner_id text not null references owners (id),
    kind text not null,
    state text not null,
    waiting_for text,
    key text,
    repo_id text references repos (id),
    issue_number integer,
    payload text not null,
    priority integer not null,
    run_at integer not null,
    attempt integer not null,
    max_attempts integer not null,
    lease_token text,
    claimed_by text,
    lease_expires_at integer,
    again text,
    follows text,
    followed_by text,
    cancel_requested_at integer,
    progress text,
    result text,
    error text,
    concurrency_key text,
    traceparent text,
    actor text,
    acted_at integer,
    created_at integer not null,
    updated_at integer not null,
    finished_at integer,
    constraint jobs_state_check check (state in ('pending', 'claimed', 'succeeded', 'failed', 'cancelled')),
    constraint jobs_waiting_for_check check (waiting_for is null or waiting_for in ('slot', 'dependency', 'connection')),
    constraint jobs_priority_check check (priority between 1 and 4),
    constraint jobs_attempt_check check (attempt between 0 and max_attempts and max_attempts between 1 and 100),
    constraint jobs_run_at_check check (run_at between -62104060800000000 and 253402300799999999),
    constraint jobs_issue_check check (issue_number is null or repo_id is not null),
    constraint jobs_lease_check check (
        (state = 'claimed') = (lease_token is not null)
        and (state = 'claimed') = (claimed_by is not null)
        and (state = 'claimed') = (lease_expires_at is not null)
    ),
    constraint jobs_waiting_check check (waiting_for is null or state = 'pending'),
    constraint jobs_again_check check (again is null or state = 'claimed'),
    constraint jobs_actor_check check ((actor is null) = (acted_at is null)),
    constraint jobs_finished_check check ((state in ('succeeded', 'failed', 'cancelled')) = (finished_at is not null))
) strict;
-- JobInsertMany, JobGetByKey, JobLockByKeys: at most one live job per key.
create unique index jobs_live_key on jobs (owner_id, key) where finished_at is null;
-- JobClaim: docs/adr/0004 has the buffers of this index against two others.
create index jobs_claim on jobs (owner_id, kind, priority, run_at, id) where state = 'pending' and waiting_for is null;
-- JobLockOverdue
create index jobs_claimed on jobs (id) where state = 'claimed';
-- JobPage, JobWalk
create index jobs_by_created on jobs (owner_id, created_at, id);
-- JobPageByState, JobWalkByState
create index jobs_by_state on jobs (owner_id, state, created_at, id);
-- JobPageByKey, JobWalkByKey
create index jobs_by_key on jobs (owner_id, key, created_at, id) where key is not null;

create table runs (
    id text primary key,
    owner_id text not null references owners (id),
    kind text not null,
    connection_id text,
    job_id text,
    external_run_id text,
    status text not null,
    attempt integer,
    worker text,
    token_hash text,
    generation integer,
    terminal_reason text,
    error text,
    facts text,
    progress text,
    scheduler_managed integer not null,
    origin text not null,
    event_seq integer not null,
    created_at integer not null,
    started_at integer not null,
    completed_at integer,
    constraint runs_scheduler_managed_check check (scheduler_managed in (0, 1)),
    constraint runs_kind_check check (kind in ('job', 'scheduled', 'manual', 'browser', 'webhook')),
    constraint runs_status_check check (status in ('running', 'succeeded', 'succeeded_with_gaps', 'failed', 'cancelled', 'abandoned', 'skipped')),
    constraint runs_origin_check check (origin in ('live', 'backfill', 'import')),
    constraint runs_completed_check check ((status = 'running') = (completed_at is null))
) strict;
-- RunEnd: a job has at most one running run.
create unique index runs_running_job on runs (owner_id, job_id) where status = 'running' and job_id is not null;
-- The identity of a run that comes from outside.
create unique index runs_external on runs (connection_id, external_run_id) where external_run_id is not null;
-- RunPage, RunWalk
create index runs_by_created on runs (owner_id, created_at, id);
-- RunPageByStatus, RunWalkByStatus
create index runs_by_status on runs (owner_id, status, created_at, id);
-- RunPageByJob, RunWalkByJob, RunGetByToken
create index runs_by_job on runs (owner_id, job_id, created_at, id) where job_id is not null;

-- migrate:down
