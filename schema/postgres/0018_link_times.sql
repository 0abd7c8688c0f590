-- migrate:up

-- See 0014.

create function bounded(at timestamptz) returns timestamptz
    language sql immutable strict
    return least(greatest(at, '0002-01-01 00:00:00+00'), '9999-12-31 23:59:59.999999+00');

-- A small table: it is read under the lock.
update login_links
set created_at = bounded(created_at),
    expires_at = bounded(expires_at),
    used_at = bounded(used_at),
    revoked_at = bounded(revoked_at)
where created_at not between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    or expires_at not between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    or used_at not between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    or revoked_at not between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00';
alter table login_links add constraint login_links_times_check check (
    created_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    and expires_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    and used_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    and revoked_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
);

drop function bounded(timestamptz);

-- migrate:down
alter table login_links drop constraint login_links_times_check;
