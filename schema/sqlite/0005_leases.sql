-- migrate:up

-- Who does a background work at present. A row is never deleted: a lease that
-- was released has ended, and its next holder has the next term.
create table leases (
    name text primary key,
    holder text not null,
    term integer not null,
    taken_at integer not null,
    expires_at integer not null,
    constraint leases_term_check check (term >= 1)
) strict;

-- migrate:down
