-- migrate:up

-- See 0014.

create function bounded(at timestamptz) returns timestamptz
    language sql immutable strict
    return least(greatest(at, '0002-01-01 00:00:00+00'), '9999-12-31 23:59:59.999999+00');

-- Reads all keys once, under a lock that lets them be written meanwhile.
update idempotency_keys
set created_at = bounded(created_at)
where created_at not between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00';
alter table idempotency_keys validate constraint idempotency_keys_times_check;

-- A small table: it is read under the lock.
update tokens
set created_at = bounded(created_at),
    expires_at = bounded(expires_at),
    last_used_at = bounded(last_used_at),
    revoked_at = bounded(revoked_at)
where created_at not between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    or expires_at not between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    or last_used_at not between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    or revoked_at not between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00';
alter table tokens add constraint tokens_times_check check (
    created_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    and expires_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    and last_used_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    and revoked_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
);

drop function bounded(timestamptz);

-- migrate:down
alter table tokens drop constraint tokens_times_check;
