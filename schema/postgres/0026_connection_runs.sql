-- migrate:up transaction:false

-- RunWalkOfConnection. An expression, so that the planner uses this index for that
-- statement alone: a plan made while the index is empty would later read all of it.
create index concurrently runs_by_connection on runs (coalesce(connection_id, ''), generation) where coalesce(connection_id, '') <> '';

-- migrate:down
drop index runs_by_connection;
