-- migrate:up

-- Twin of schema/postgres/0019_lease_times.sql.

update leases
set taken_at = min(max(taken_at, -62104060800000000), 253402300799999999),
    expires_at = min(max(expires_at, -62104060800000000), 253402300799999999)
where taken_at not between -62104060800000000 and 253402300799999999
    or expires_at not between -62104060800000000 and 253402300799999999;
alter table leases add constraint leases_times_check check (
    taken_at between -62104060800000000 and 253402300799999999
    and expires_at between -62104060800000000 and 253402300799999999
);

-- migrate:down
alter table leases drop constraint leases_times_check;
