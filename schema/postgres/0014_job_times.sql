-- migrate:up

-- Times lie in the years 2 to 9999: nothing outside has a text form, and an infinite
-- one would hold a lease, a session or a key for ever. What lies outside becomes the
-- nearest time that may be, which is how it was shown. One table a migration; see 0008.

-- Not valid, so that the busy table is not read under the lock that this takes; the
-- next migration validates it under a weaker one.
alter table jobs add constraint jobs_times_check check (
    lease_expires_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    and cancel_requested_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    and acted_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    and created_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    and updated_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    and finished_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
) not valid;

-- migrate:down
alter table jobs drop constraint jobs_times_check;
