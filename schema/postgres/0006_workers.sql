-- migrate:up

-- Who has claimed or finished a job, as it names itself; flushed once a minute.
create table workers (
    owner_id text collate "C" not null references owners (id),
    name text collate "C" not null,
    first_seen_at timestamptz not null,
    last_seen_at timestamptz not null,
    primary key (owner_id, name)
) with (fillfactor = 85);
-- WorkerSweep
create index workers_by_seen on workers (last_seen_at);

-- migrate:down
