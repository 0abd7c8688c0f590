-- migrate:up
create table jobs (
    id text collate "C" primary key,
    owner_id text collate "C" not null,
    kind text collate "C" not null,
    priority bigint not null,
    note text,
    payload json not null,
    run_at timestamptz not null,
    finished_at timestamptz
);
comment on table jobs is 'A unit of work.';
comment on column jobs.note is 'What a person wrote about it.';

-- migrate:down
drop table jobs;
