-- migrate:up

-- The token or session that made it, of the same owner; null if it was made on the
-- database itself, or by the release before. It may name a row that was swept.
alter table tokens add column created_by text collate "C" null;

-- TokenRevokeMade
create index tokens_by_maker on tokens (owner_id, created_by);

-- migrate:down
drop index tokens_by_maker;
alter table tokens drop column created_by;
