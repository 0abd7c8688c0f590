-- migrate:up

-- Of one job; see 0008. Not valid, so that the busy table is not read under the lock
-- that this takes; 0010 validates it under a weaker one.
alter table jobs add column timeout_seconds bigint null;
alter table jobs add constraint jobs_timeout_check check (timeout_seconds between 1 and 604800) not valid;

-- migrate:down
alter table jobs drop column timeout_seconds;
