-- name: JobUpsert :exec
-- SQLite loses the arguments of an upsert.
insert into jobs (id, owner_id, kind, priority, payload, run_at)
values (@id, @owner_id, @kind, 0, @payload, @run_at)
on conflict (id) do update set note = @note, priority = sqlc.arg(priority), run_at = excluded.run_at
where jobs.kind = @old_kind;
