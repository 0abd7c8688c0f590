-- migrate:up

-- The pages of a repository's proposals, newest first, one index per filter:
-- docs/adr/0008 has what they cost and how long this blocks writes.

-- ProposalPage
create index proposals_by_created on proposals (repo_id, created_at desc, id desc);
-- ProposalPageByState
create index proposals_by_state_created on proposals (repo_id, state, created_at desc, id desc);
-- ProposalPageByStream
create index proposals_by_stream_created on proposals (repo_id, stream, created_at desc, id desc);
-- ProposalPageByStateStream
create index proposals_by_state_stream_created on proposals (repo_id, state, stream, created_at desc, id desc);
-- ProposalPageByAuthor; it holds what ProposalWalkByAuthor reads, so that a walk
-- touches no row
create index proposals_by_author_created on proposals (repo_id, author, created_at desc, id desc, state, stream);

-- migrate:down
