-- name: MetaGet :one
-- One setting that the replicas of a database share.
select value
from meta
where key = @key;

-- name: MetaInsert :execrows
-- Sets it unless it is set: the first replica to come wins.
insert into meta (key, value)
values (@key, @value)
on conflict (key) do nothing;
