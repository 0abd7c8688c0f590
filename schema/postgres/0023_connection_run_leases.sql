-- migrate:up

-- Until when a run of a connection is taken to be alive without a word of whoever
-- runs it; null for a run of a job, which has the job's lease.
alter table runs add column lease_expires_at timestamptz null;
-- Not valid, so that the busy table is not read under the lock that this takes; 0025
-- validates it under a weaker one.
alter table runs add constraint runs_lease_times_check check (
    lease_expires_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
) not valid;

-- migrate:down
alter table runs drop constraint runs_lease_times_check;
alter table runs drop column lease_expires_at;
