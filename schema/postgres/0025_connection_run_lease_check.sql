-- migrate:up

alter table runs validate constraint runs_lease_times_check;

-- migrate:down
select 1;
