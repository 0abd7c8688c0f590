-- migrate:up

-- Twin of schema/postgres/0020_distinct_values.sql: SQLite's planner is given no
-- statistics, so there is nothing to change.
select 1;

-- migrate:down
select 1;
