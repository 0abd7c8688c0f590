-- name: OwnerGetByName :one
-- The owner of that name.
select *
from owners
where name = @name;

-- name: OwnerInsert :execrows
-- Makes an owner; 0 rows if the name is taken.
insert into owners (id, name, created_at)
values (@id, @name, @created_at)
on conflict (name) do nothing;
