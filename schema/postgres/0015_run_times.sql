-- migrate:up

-- See 0014.

create function bounded(at timestamptz) returns timestamptz
    language sql immutable strict
    return least(greatest(at, '0002-01-01 00:00:00+00'), '9999-12-31 23:59:59.999999+00');

-- Reads all jobs once, under a lock that lets them be written meanwhile.
update jobs
set lease_expires_at = bounded(lease_expires_at),
    cancel_requested_at = bounded(cancel_requested_at),
    acted_at = bounded(acted_at),
    created_at = bounded(created_at),
    updated_at = bounded(updated_at),
    finished_at = bounded(finished_at)
where lease_expires_at not between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    or cancel_requested_at not between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    or acted_at not between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    or created_at not between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    or updated_at not between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    or finished_at not between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00';
alter table jobs validate constraint jobs_times_check;

drop function bounded(timestamptz);

-- Not valid, so that the busy table is not read under the lock that this takes; the
-- next migration validates it under a weaker one.
alter table runs add constraint runs_times_check check (
    created_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    and started_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    and completed_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    and deadline_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
) not valid;

-- migrate:down
alter table runs drop constraint runs_times_check;
