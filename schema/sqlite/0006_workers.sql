-- migrate:up

-- Who has claimed or finished a job, as it names itself; flushed once a minute.
create table workers (
    owner_id text not null references owners (id),
    name text not null,
    first_seen_at integer not null,
    last_seen_at integer not null,
    primary key (owner_id, name)
) strict;
-- WorkerSweep
create index workers_by_seen on workers (last_seen_at);

-- migrate:down
