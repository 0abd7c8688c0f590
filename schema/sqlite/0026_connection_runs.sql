-- migrate:up

-- RunWalkOfConnection. The connection is an expression, so that no other statement is
-- offered this index, which would read all of it where it was empty.
create index runs_by_connection on runs (coalesce(connection_id, ''), created_at, id) where coalesce(connection_id, '') <> '';

-- migrate:down
drop index runs_by_connection;
