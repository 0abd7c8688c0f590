-- migrate:up

-- Until when a run of a connection is taken to be alive without a word of whoever
-- runs it; null for a run of a job, which has the job's lease.
alter table runs add column lease_expires_at integer constraint runs_lease_times_check check (
    lease_expires_at between -62104060800000000 and 253402300799999999
);

-- migrate:down
alter table runs drop column lease_expires_at;
