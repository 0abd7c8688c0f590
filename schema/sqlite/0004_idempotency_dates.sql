-- migrate:up

-- When the answer was kept. Null: written before this migration, or by a replica
-- of the release before it; the sweep dates those.
alter table idempotency_keys add column created_at integer;
-- The request's If-Match, '' without one. Null: that release did not tell.
alter table idempotency_keys add column if_match text;
-- The answer's ETag.
alter table idempotency_keys add column etag text;
-- IdempotencyKeyDate, IdempotencyKeySweep
create index idempotency_keys_by_created on idempotency_keys (created_at);

-- migrate:down
