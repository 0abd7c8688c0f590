-- migrate:up

-- When the attempt must be over, written by the replica that claims. It is here
-- and not in jobs, so that a claim by a replica of the release before, which
-- writes none, leaves no earlier attempt's behind.
alter table runs add column deadline_at integer;

-- What a worker says about its own finish.
alter table runs add column warning text;

-- What an attempt printed, in the pieces in which it came. ends_at_byte is where a
-- piece ends in all that was printed. place is the same, but counts at least 64
-- bytes for each piece: pieces are deleted by it, so it bounds their number too.
-- RunLogLast, RunLogList, RunLogTrim
create table run_logs (
    run_id text not null references runs (id) on delete cascade,
    place integer not null,
    seq integer not null,
    text text not null,
    ends_at_byte integer not null,
    created_at integer not null,
    primary key (run_id, place),
    constraint run_logs_place_check check (place >= 1),
    constraint run_logs_seq_check check (seq >= 1),
    constraint run_logs_ends_check check (ends_at_byte >= 0)
) strict;

-- migrate:down
drop table run_logs;
alter table runs drop column warning;
alter table runs drop column deadline_at;
