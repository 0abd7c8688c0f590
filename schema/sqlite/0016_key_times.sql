-- migrate:up

-- Twin of schema/postgres/0016_key_times.sql.

update idempotency_keys
set created_at = min(max(created_at, -62104060800000000), 253402300799999999)
where created_at not between -62104060800000000 and 253402300799999999;
alter table idempotency_keys add constraint idempotency_keys_times_check check (created_at between -62104060800000000 and 253402300799999999);

-- migrate:down
alter table idempotency_keys drop constraint idempotency_keys_times_check;
