-- migrate:up

-- Twin of schema/postgres/0014_job_times.sql.

update jobs
set lease_expires_at = min(max(lease_expires_at, -62104060800000000), 253402300799999999),
    cancel_requested_at = min(max(cancel_requested_at, -62104060800000000), 253402300799999999),
    acted_at = min(max(acted_at, -62104060800000000), 253402300799999999),
    created_at = min(max(created_at, -62104060800000000), 253402300799999999),
    updated_at = min(max(updated_at, -62104060800000000), 253402300799999999),
    finished_at = min(max(finished_at, -62104060800000000), 253402300799999999)
where lease_expires_at not between -62104060800000000 and 253402300799999999
    or cancel_requested_at not between -62104060800000000 and 253402300799999999
    or acted_at not between -62104060800000000 and 253402300799999999
    or created_at not between -62104060800000000 and 253402300799999999
    or updated_at not between -62104060800000000 and 253402300799999999
    or finished_at not between -62104060800000000 and 253402300799999999;
alter table jobs add constraint jobs_times_check check (
    lease_expires_at between -62104060800000000 and 253402300799999999
    and cancel_requested_at between -62104060800000000 and 253402300799999999
    and acted_at between -62104060800000000 and 253402300799999999
    and created_at between -62104060800000000 and 253402300799999999
    and updated_at between -62104060800000000 and 253402300799999999
    and finished_at between -62104060800000000 and 253402300799999999
);

-- migrate:down
alter table jobs drop constraint jobs_times_check;
