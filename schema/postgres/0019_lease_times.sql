-- migrate:up

-- See 0014.

create function bounded(at timestamptz) returns timestamptz
    language sql immutable strict
    return least(greatest(at, '0002-01-01 00:00:00+00'), '9999-12-31 23:59:59.999999+00');

-- A small table: it is read under the lock.
update leases
set taken_at = bounded(taken_at),
    expires_at = bounded(expires_at)
where taken_at not between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    or expires_at not between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00';
alter table leases add constraint leases_times_check check (
    taken_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    and expires_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
);

drop function bounded(timestamptz);

-- migrate:down
alter table leases drop constraint leases_times_check;
