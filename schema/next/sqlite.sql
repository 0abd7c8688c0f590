-- migrate:up

-- What a release adds, on the busiest tables: a column, and a table with rows.
alter table jobs add column next_note text;
alter table runs add column next_note text;
create table next_notes (
    id text primary key
) strict;
insert into next_notes (id) values ('first');

-- migrate:down
