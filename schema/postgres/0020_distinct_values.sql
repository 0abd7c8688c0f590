-- migrate:up

-- How many values PostgreSQL is to assume in a column. A prepared statement has one
-- plan for all values. If ANALYZE finds a single value (every job succeeded, one author
-- made all), that plan reads the list of all rows and tests each, and it stays when
-- other values come.
alter table jobs
    alter column state set (n_distinct = 5),
    alter column key set (n_distinct = 100);
alter table runs alter column status set (n_distinct = 7);
alter table proposals
    alter column state set (n_distinct = 3),
    alter column stream set (n_distinct = 10),
    alter column author set (n_distinct = 10);
analyze jobs, runs, proposals; -- from which on it holds; it reads a sample

-- migrate:down
alter table jobs alter column state reset (n_distinct), alter column key reset (n_distinct);
alter table runs alter column status reset (n_distinct);
alter table proposals alter column state reset (n_distinct), alter column stream reset (n_distinct), alter column author reset (n_distinct);
