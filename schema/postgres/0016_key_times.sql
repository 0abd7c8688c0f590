-- migrate:up

-- See 0014.

create function bounded(at timestamptz) returns timestamptz
    language sql immutable strict
    return least(greatest(at, '0002-01-01 00:00:00+00'), '9999-12-31 23:59:59.999999+00');

-- Reads all runs once, under a lock that lets them be written meanwhile.
update runs
set created_at = bounded(created_at),
    started_at = bounded(started_at),
    completed_at = bounded(completed_at),
    deadline_at = bounded(deadline_at)
where created_at not between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    or started_at not between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    or completed_at not between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    or deadline_at not between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00';
alter table runs validate constraint runs_times_check;

drop function bounded(timestamptz);

-- Not valid, so that the busy table is not read under the lock that this takes; the
-- next migration validates it under a weaker one.
alter table idempotency_keys add constraint idempotency_keys_times_check check (created_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00') not valid;

-- migrate:down
alter table idempotency_keys drop constraint idempotency_keys_times_check;
