-- migrate:up

-- Twin of schema/postgres/0008_kind_time_limits.sql.

-- How long an attempt may take from its claim; null is without limit. The smallest
-- of kind, job and claim counts.
alter table job_kinds add column timeout_seconds integer
    constraint job_kinds_timeout_check check (timeout_seconds between 1 and 604800);

-- migrate:down
alter table job_kinds drop column timeout_seconds;
