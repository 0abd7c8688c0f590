-- migrate:up

-- What a worker says about its own finish.
alter table runs add column warning text;

-- What an attempt printed, in the pieces in which it came. ends_at_byte counts the
-- bytes of the attempt up to the end of the piece, those no longer kept included.
create table run_logs (
    run_id text not null references runs (id) on delete cascade,
    owner_id text not null references owners (id),
    seq integer not null,
    text text not null,
    ends_at_byte integer not null,
    created_at integer not null,
    primary key (run_id, seq),
    constraint run_logs_seq_check check (seq >= 1),
    constraint run_logs_ends_check check (ends_at_byte >= 0)
) strict;

-- migrate:down
drop table run_logs;
alter table runs drop column warning;
