-- migrate:up

-- Twin of schema/postgres/0017_token_times.sql.

update tokens
set created_at = min(max(created_at, -62104060800000000), 253402300799999999),
    expires_at = min(max(expires_at, -62104060800000000), 253402300799999999),
    last_used_at = min(max(last_used_at, -62104060800000000), 253402300799999999),
    revoked_at = min(max(revoked_at, -62104060800000000), 253402300799999999)
where created_at not between -62104060800000000 and 253402300799999999
    or expires_at not between -62104060800000000 and 253402300799999999
    or last_used_at not between -62104060800000000 and 253402300799999999
    or revoked_at not between -62104060800000000 and 253402300799999999;
alter table tokens add constraint tokens_times_check check (
    created_at between -62104060800000000 and 253402300799999999
    and expires_at between -62104060800000000 and 253402300799999999
    and last_used_at between -62104060800000000 and 253402300799999999
    and revoked_at between -62104060800000000 and 253402300799999999
);

-- migrate:down
alter table tokens drop constraint tokens_times_check;
