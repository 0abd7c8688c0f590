-- migrate:up

-- Who does a background work at present. A row is never deleted: a lease that
-- was released has ended, and its next holder has the next term.
create table leases (
    name text collate "C" primary key,
    holder text collate "C" not null,
    term bigint not null,
    taken_at timestamptz not null,
    expires_at timestamptz not null,
    constraint leases_term_check check (term >= 1)
) with (fillfactor = 85);

-- migrate:down
