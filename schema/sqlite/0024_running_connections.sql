-- migrate:up

-- RunGetActive, RunLockActive, RunListOverdue: a connection has at most one running run.
create unique index runs_running_connection on runs (connection_id) where status = 'running' and connection_id is not null;

-- migrate:down
drop index runs_running_connection;
