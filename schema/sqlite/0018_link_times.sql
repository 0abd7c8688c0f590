-- migrate:up

-- Twin of schema/postgres/0018_link_times.sql.

update login_links
set created_at = min(max(created_at, -62104060800000000), 253402300799999999),
    expires_at = min(max(expires_at, -62104060800000000), 253402300799999999),
    used_at = min(max(used_at, -62104060800000000), 253402300799999999),
    revoked_at = min(max(revoked_at, -62104060800000000), 253402300799999999)
where created_at not between -62104060800000000 and 253402300799999999
    or expires_at not between -62104060800000000 and 253402300799999999
    or used_at not between -62104060800000000 and 253402300799999999
    or revoked_at not between -62104060800000000 and 253402300799999999;
alter table login_links add constraint login_links_times_check check (
    created_at between -62104060800000000 and 253402300799999999
    and expires_at between -62104060800000000 and 253402300799999999
    and used_at between -62104060800000000 and 253402300799999999
    and revoked_at between -62104060800000000 and 253402300799999999
);

-- migrate:down
alter table login_links drop constraint login_links_times_check;
