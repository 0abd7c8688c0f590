-- migrate:up
create table jobs (
    id text primary key,
    owner_id text not null,
    kind text not null,
    priority integer not null,
    note text,
    payload text not null,
    run_at integer not null,
    finished_at integer
) strict;

-- migrate:down
drop table jobs;
