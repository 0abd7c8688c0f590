-- migrate:up

-- Of one job; see 0008.
alter table jobs add column timeout_seconds integer
    constraint jobs_timeout_check check (timeout_seconds between 1 and 604800);

-- migrate:down
alter table jobs drop column timeout_seconds;
