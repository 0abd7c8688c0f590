-- migrate:up

-- Twin of schema/postgres/0015_run_times.sql.

update runs
set created_at = min(max(created_at, -62104060800000000), 253402300799999999),
    started_at = min(max(started_at, -62104060800000000), 253402300799999999),
    completed_at = min(max(completed_at, -62104060800000000), 253402300799999999),
    deadline_at = min(max(deadline_at, -62104060800000000), 253402300799999999)
where created_at not between -62104060800000000 and 253402300799999999
    or started_at not between -62104060800000000 and 253402300799999999
    or completed_at not between -62104060800000000 and 253402300799999999
    or deadline_at not between -62104060800000000 and 253402300799999999;
alter table runs add constraint runs_times_check check (
    created_at between -62104060800000000 and 253402300799999999
    and started_at between -62104060800000000 and 253402300799999999
    and completed_at between -62104060800000000 and 253402300799999999
    and deadline_at between -62104060800000000 and 253402300799999999
);

-- migrate:down
alter table runs drop constraint runs_times_check;
