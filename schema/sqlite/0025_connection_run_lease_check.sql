-- migrate:up

-- Twin of schema/postgres/0025_connection_run_lease_check.sql; here 0023 has checked every row.
select 1;

-- migrate:down
select 1;
