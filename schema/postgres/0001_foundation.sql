-- migrate:up

-- Ids and names compare bytewise, as they do in SQLite: collate "C".
-- Times are judged by the database's clock and stored to the microsecond.

-- The instant us microseconds after the Unix epoch, exact over the whole range.
-- Row sets travel as JSON text and carry their times in this form.
create function from_us(us bigint) returns timestamptz
    language sql immutable strict parallel safe
    return timestamptz 'epoch' + (us / 1000000) * interval '1 second' + (us % 1000000) * interval '1 microsecond';

create table owners (
    id text collate "C" primary key,
    name text collate "C" not null,
    created_at timestamptz not null,
    constraint owners_name_key unique (name)
);

create table tokens (
    id text collate "C" primary key,
    owner_id text collate "C" not null references owners (id),
    name text collate "C" not null,
    hash text collate "C" not null,
    scopes json not null,
    created_at timestamptz not null,
    expires_at timestamptz null,
    last_used_at timestamptz null,
    revoked_at timestamptz null,
    constraint tokens_hash_key unique (hash)
);
-- TokenPage
create index tokens_by_created on tokens (owner_id, created_at, id);

create table meta (
    key text collate "C" primary key,
    value text collate "C" not null
);

-- status 0: the request that took the key is still at work, in the
-- transaction that inserted the row. No other transaction ever sees a 0.
create table idempotency_keys (
    owner_id text collate "C" not null references owners (id),
    principal text collate "C" not null,
    route text collate "C" not null,
    key text collate "C" not null,
    fingerprint text collate "C" not null,
    status bigint not null,
    body text collate "C" not null,
    primary key (owner_id, principal, route, key),
    constraint idempotency_keys_status_check check (status = 0 or status between 200 and 499)
);

create table repos (
    id text collate "C" primary key,
    owner_id text collate "C" not null references owners (id),
    forge text collate "C" not null,
    host text collate "C" not null,
    namespace text collate "C" not null,
    name text collate "C" not null,
    default_stream text collate "C" null,
    labels_synced_at timestamptz null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint repos_forge_check check (forge in ('github', 'gitea', 'forgejo', 'gitlab'))
);
-- RepoInsert, RepoGetByName: one row per repository however its name is spelled.
create unique index repos_identity on repos (owner_id, forge, host, lower(namespace), lower(name));

create table job_kinds (
    owner_id text collate "C" not null references owners (id),
    name text collate "C" not null,
    lease_seconds bigint not null,
    max_attempts bigint not null,
    backoff_base_seconds bigint not null,
    backoff_cap_seconds bigint not null,
    paused_at timestamptz null,
    paused_by text collate "C" null,
    version bigint not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (owner_id, name),
    constraint job_kinds_lease_check check (lease_seconds between 10 and 86400),
    constraint job_kinds_attempts_check check (max_attempts between 1 and 100),
    constraint job_kinds_backoff_check check (backoff_base_seconds between 1 and backoff_cap_seconds and backoff_cap_seconds <= 2592000)
);

-- A heartbeat changes lease_expires_at, progress and updated_at alone; no index
-- names them, so with room on the page the update stays heap-only (HOT).
create table jobs (
    id text collate "C" primary key,
    owner_id text collate "C" not null references owners (id),
    kind text collate "C" not null,
    state text collate "C" not null,
    waiting_for text collate "C" null,
    key text collate "C" null,
    repo_id text collate "C" null references repos (id),
    issue_number bigint null,
    payload json not null,
    priority bigint not null,
    run_at timestamptz not null,
    attempt bigint not null,
    max_attempts bigint not null,
    lease_token text collate "C" null,
    claimed_by text collate "C" null,
    lease_expires_at timestamptz null,
    again json null,
    follows text collate "C" null,
    followed_by text collate "C" null,
    cancel_requested_at timestamptz null,
    progress json null,
    result json null,
    error json null,
    concurrency_key text collate "C" null,
    traceparent text collate "C" null,
    actor text collate "C" null,
    acted_at timestamptz null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    finished_at timestamptz null,
    constraint jobs_state_check check (state in ('pending', 'claimed', 'succeeded', 'failed', 'cancelled')),
    constraint jobs_waiting_for_check check (waiting_for is null or waiting_for in ('slot', 'dependency', 'connection')),
    constraint jobs_priority_check check (priority between 1 and 4),
    constraint jobs_attempt_check check (attempt between 0 and max_attempts and max_attempts between 1 and 100),
    constraint jobs_run_at_check check (run_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'),
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
) with (fillfactor = 85);
-- JobInsertMany, JobGetByKey, JobLockByKeys: at most one live job per key. Live is spelled as
-- not finished, so that this index never offers itself where a state is asked for.
create unique index jobs_live_key on jobs (owner_id, key) where finished_at is null;
-- JobClaim: docs/adr/0004 has the buffers of this index against two others. Its
-- predicate, pending and not waiting, is spelled so that no other index serves
-- it: a generic plan would take jobs_by_state, or with one kind in the table a
-- sequential scan, and sort (20,000 pending: 1,598 and 1,160 buffers against 15).
create index jobs_claim on jobs (owner_id, kind, priority, run_at, id) where coalesce(waiting_for, state) = 'pending';
-- JobLockOverdue
create index jobs_claimed on jobs (id) where state = 'claimed';
-- JobPage, JobWalk
create index jobs_by_created on jobs (owner_id, created_at, id);
-- JobPageByState, JobWalkByState
create index jobs_by_state on jobs (owner_id, state, created_at, id);
-- JobPageByKey, JobWalkByKey
create index jobs_by_key on jobs (owner_id, key, created_at, id) where key is not null;

create table runs (
    id text collate "C" primary key,
    owner_id text collate "C" not null references owners (id),
    kind text collate "C" not null,
    connection_id text collate "C" null,
    job_id text collate "C" null,
    external_run_id text collate "C" null,
    status text collate "C" not null,
    attempt bigint null,
    worker text collate "C" null,
    token_hash text collate "C" null,
    generation bigint null,
    terminal_reason text collate "C" null,
    error json null,
    facts json null,
    progress json null,
    scheduler_managed boolean not null,
    origin text collate "C" not null,
    event_seq bigint not null,
    created_at timestamptz not null,
    started_at timestamptz not null,
    completed_at timestamptz null,
    constraint runs_kind_check check (kind in ('job', 'scheduled', 'manual', 'browser', 'webhook')),
    constraint runs_status_check check (status in ('running', 'succeeded', 'succeeded_with_gaps', 'failed', 'cancelled', 'abandoned', 'skipped')),
    constraint runs_origin_check check (origin in ('live', 'backfill', 'import')),
    constraint runs_completed_check check ((status = 'running') = (completed_at is null))
) with (fillfactor = 85);
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
