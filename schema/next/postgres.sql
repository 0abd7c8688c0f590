-- migrate:up

-- What a release adds, on the busiest tables: a column, and a table with rows.
alter table jobs add column next_note text collate "C" null;
alter table runs add column next_note text collate "C" null;
create table next_notes (
    id text collate "C" primary key
);
insert into next_notes (id) values ('first');

-- migrate:down
