-- For sqlc alone: it takes a constraint that SQLite adds to a table for a column of
-- that name. The next one on a table that stands here drops its column by itself.
alter table jobs drop column constraint;
alter table runs drop column constraint;
alter table idempotency_keys drop column constraint;
alter table tokens drop column constraint;
alter table login_links drop column constraint;
alter table leases drop column constraint;
