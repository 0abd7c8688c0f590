-- migrate:up

-- How long an attempt may take from its claim; null is without limit. The smallest
-- of kind, job and claim counts.
alter table job_kinds add column timeout_seconds bigint null
    constraint job_kinds_timeout_check check (timeout_seconds between 1 and 604800);

-- Not valid, so that the busy table is not read under the lock that this takes;
-- 0009 validates it under a weaker one.
alter table jobs add column timeout_seconds bigint null;
alter table jobs add constraint jobs_timeout_check check (timeout_seconds between 1 and 604800) not valid;

-- When the attempt must be over, written by the replica that claims. It is here
-- and not in jobs, so that a claim by a replica of the release before, which
-- writes none, leaves no earlier attempt's behind.
alter table runs add column deadline_at timestamptz null;

-- migrate:down
alter table runs drop column deadline_at;
alter table jobs drop column timeout_seconds;
alter table job_kinds drop column timeout_seconds;
