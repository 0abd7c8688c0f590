-- migrate:up

-- When the answer was kept. Null: written before this migration, or by a replica
-- of the release before it; the sweep dates those.
alter table idempotency_keys add column created_at timestamptz null;
-- IdempotencyKeySweep
create index idempotency_keys_by_created on idempotency_keys (created_at);

-- migrate:down
