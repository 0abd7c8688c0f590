-- name: ProposalGet :one
-- One proposal of an owner, with the run behind it and its lease, or that of its
-- job. A run that is gone, or another owner's, is none.
select
    sqlc.embed(p),
    r.kind as run_kind, r.status as run_status, r.job_id as run_job_id, r.lease_expires_at as run_lease_expires_at,
    j.state as job_state, j.lease_expires_at as job_lease_expires_at
from proposals p
left join runs r on r.id = p.run_id and r.owner_id = p.owner_id
left join jobs j on j.id = r.job_id
where p.id = @id
    and p.owner_id = @owner_id;

-- name: ProposalGetOpen :one
-- The open proposal of a stream and head. Index proposals_open_head.
select *
from proposals
where owner_id = @owner_id
    and repo_id = @repo_id
    and stream = @stream
    and head = @head
    and closed_at is null;

-- name: ProposalInsert :execrows
-- Opens a proposal; 0 rows if one of that stream and head is open. Index
-- proposals_open_head.
insert into proposals (
    id, owner_id, repo_id, stream, head, base, title, body, author, state, url, run_id, version,
    created_at, updated_at
)
values (
    @id, @owner_id, @repo_id, @stream, @head, sqlc.narg(base), @title, sqlc.narg(body), @author,
    'open', sqlc.narg(url), sqlc.narg(run_id), 1, @created_at, @created_at
)
on conflict do nothing;

-- name: ProposalMove :one
-- Brings a proposal from one state into another, fenced by its version.
update proposals
set state = @to_state,
    version = version + 1,
    updated_at = @updated_at,
    closed_at = @closed_at
where id = @id
    and owner_id = @owner_id
    and state = @from_state
    and version = @expected_version
returning *;

-- name: ProposalPage :many
-- The proposals of a repository, newest first; none if it is another owner's.
-- Index proposals_by_created.
select p.*
from proposals p
where p.repo_id = (select r.id from repos r where r.id = @repo_id and r.owner_id = @owner_id)
    and (p.created_at, p.id) < (@before_at, coalesce(cast(@before_id as text), ''))
order by p.created_at desc, p.id desc
limit cast(@max as bigint);

-- name: ProposalPageByAuthor :many
-- Those of one author. Index proposals_by_author_created.
select p.*
from proposals p
where p.repo_id = (select r.id from repos r where r.id = @repo_id and r.owner_id = @owner_id)
    and p.author = @author
    and (p.created_at, p.id) < (@before_at, coalesce(cast(@before_id as text), ''))
order by p.created_at desc, p.id desc
limit cast(@max as bigint);

-- name: ProposalPageByState :many
-- Those in one state. Index proposals_by_state_created.
select p.*
from proposals p
where p.repo_id = (select r.id from repos r where r.id = @repo_id and r.owner_id = @owner_id)
    and p.state = @state
    and (p.created_at, p.id) < (@before_at, coalesce(cast(@before_id as text), ''))
order by p.created_at desc, p.id desc
limit cast(@max as bigint);

-- name: ProposalPageByStateStream :many
-- Those of one stream in one state. Index proposals_by_state_stream_created.
select p.*
from proposals p
where p.repo_id = (select r.id from repos r where r.id = @repo_id and r.owner_id = @owner_id)
    and p.state = @state
    and p.stream = @stream
    and (p.created_at, p.id) < (@before_at, coalesce(cast(@before_id as text), ''))
order by p.created_at desc, p.id desc
limit cast(@max as bigint);

-- name: ProposalPageByStream :many
-- Those of one stream. Index proposals_by_stream_created.
select p.*
from proposals p
where p.repo_id = (select r.id from repos r where r.id = @repo_id and r.owner_id = @owner_id)
    and p.stream = @stream
    and (p.created_at, p.id) < (@before_at, coalesce(cast(@before_id as text), ''))
order by p.created_at desc, p.id desc
limit cast(@max as bigint);

-- name: ProposalWalkByAuthor :many
-- What a filter within one author's looks at. Index proposals_by_author_created
-- holds all of it.
select p.id, p.state, p.stream, p.created_at
from proposals p
where p.repo_id = (select r.id from repos r where r.id = @repo_id and r.owner_id = @owner_id)
    and p.author = @author
    and (p.created_at, p.id) < (@before_at, coalesce(cast(@before_id as text), ''))
order by p.created_at desc, p.id desc
limit cast(@max as bigint);
