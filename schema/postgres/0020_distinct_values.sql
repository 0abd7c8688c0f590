-- migrate:up

-- How many values a column has, as PostgreSQL is to assume from its next ANALYZE on.
-- Prepared statements have one plan for all values. Where ANALYZE finds one value
-- alone, since every job has ended well or one author made all, that plan would read
-- the list of everything and test each row, and be kept when other values come.
alter table jobs
    alter column state set (n_distinct = 5),
    alter column key set (n_distinct = 100);
alter table runs alter column status set (n_distinct = 7);
alter table proposals
    alter column state set (n_distinct = 3),
    alter column stream set (n_distinct = 10),
    alter column author set (n_distinct = 10);

-- migrate:down
alter table jobs alter column state reset (n_distinct), alter column key reset (n_distinct);
alter table runs alter column status reset (n_distinct);
alter table proposals alter column state reset (n_distinct), alter column stream reset (n_distinct), alter column author reset (n_distinct);
