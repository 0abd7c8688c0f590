--
--



SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: from_us(bigint); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.from_us(us bigint) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (('1970-01-01 05:30:00+05:30'::timestamp with time zone + (((us / 1000000))::double precision * '00:00:01'::interval)) + (((us % (1000000)::bigint))::double precision * '00:00:00.000001'::interval));


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: idempotency_keys; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.idempotency_keys (
    owner_id text NOT NULL COLLATE pg_catalog."C",
    principal text NOT NULL COLLATE pg_catalog."C",
    route text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    fingerprint text NOT NULL COLLATE pg_catalog."C",
    status bigint NOT NULL,
    body text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone,
    if_match text COLLATE pg_catalog."C",
    etag text COLLATE pg_catalog."C",
    CONSTRAINT idempotency_keys_status_check CHECK (((status = 0) OR ((status >= 200) AND (status <= 499)))),
    CONSTRAINT idempotency_keys_times_check CHECK (((created_at >= '0002-01-01 05:41:16+05:41:16'::timestamp with time zone) AND (created_at <= '10000-01-01 05:44:59.999999+05:45'::timestamp with time zone)))
);


--
-- Name: job_kinds; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.job_kinds (
    owner_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    lease_seconds bigint NOT NULL,
    max_attempts bigint NOT NULL,
    backoff_base_seconds bigint NOT NULL,
    backoff_cap_seconds bigint NOT NULL,
    paused_at timestamp with time zone,
    paused_by text COLLATE pg_catalog."C",
    version bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    timeout_seconds bigint,
    CONSTRAINT job_kinds_attempts_check CHECK (((max_attempts >= 1) AND (max_attempts <= 100))),
    CONSTRAINT job_kinds_backoff_check CHECK ((((backoff_base_seconds >= 1) AND (backoff_base_seconds <= backoff_cap_seconds)) AND (backoff_cap_seconds <= 2592000))),
    CONSTRAINT job_kinds_lease_check CHECK (((lease_seconds >= 10) AND (lease_seconds <= 86400))),
    CONSTRAINT job_kinds_timeout_check CHECK (((timeout_seconds >= 1) AND (timeout_seconds <= 604800)))
);


--
-- Name: jobs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.jobs (
    id text NOT NULL COLLATE pg_catalog."C",
    owner_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    waiting_for text COLLATE pg_catalog."C",
    key text COLLATE pg_catalog."C",
    repo_id text COLLATE pg_catalog."C",
    issue_number bigint,
    payload json NOT NULL,
    priority bigint NOT NULL,
    run_at timestamp with time zone NOT NULL,
    attempt bigint NOT NULL,
    max_attempts bigint NOT NULL,
    lease_token text COLLATE pg_catalog."C",
    claimed_by text COLLATE pg_catalog."C",
    lease_expires_at timestamp with time zone,
    again json,
    follows text COLLATE pg_catalog."C",
    followed_by text COLLATE pg_catalog."C",
    cancel_requested_at timestamp with time zone,
    progress json,
    result json,
    error json,
    concurrency_key text COLLATE pg_catalog."C",
    traceparent text COLLATE pg_catalog."C",
    actor text COLLATE pg_catalog."C",
    acted_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    timeout_seconds bigint,
    CONSTRAINT jobs_actor_check CHECK (((actor IS NULL) = (acted_at IS NULL))),
    CONSTRAINT jobs_again_check CHECK (((again IS NULL) OR (state = 'claimed'::text))),
    CONSTRAINT jobs_attempt_check CHECK ((((attempt >= 0) AND (attempt <= max_attempts)) AND ((max_attempts >= 1) AND (max_attempts <= 100)))),
    CONSTRAINT jobs_finished_check CHECK (((state = ANY (ARRAY['succeeded'::text, 'failed'::text, 'cancelled'::text])) = (finished_at IS NOT NULL))),
    CONSTRAINT jobs_issue_check CHECK (((issue_number IS NULL) OR (repo_id IS NOT NULL))),
    CONSTRAINT jobs_lease_check CHECK ((((state = 'claimed'::text) = (lease_token IS NOT NULL)) AND ((state = 'claimed'::text) = (claimed_by IS NOT NULL)) AND ((state = 'claimed'::text) = (lease_expires_at IS NOT NULL)))),
    CONSTRAINT jobs_priority_check CHECK (((priority >= 1) AND (priority <= 4))),
    CONSTRAINT jobs_run_at_check CHECK (((run_at >= '0002-01-01 05:41:16+05:41:16'::timestamp with time zone) AND (run_at <= '10000-01-01 05:44:59.999999+05:45'::timestamp with time zone))),
    CONSTRAINT jobs_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'claimed'::text, 'succeeded'::text, 'failed'::text, 'cancelled'::text]))),
    CONSTRAINT jobs_timeout_check CHECK (((timeout_seconds >= 1) AND (timeout_seconds <= 604800))),
    CONSTRAINT jobs_times_check CHECK ((((lease_expires_at >= '0002-01-01 05:41:16+05:41:16'::timestamp with time zone) AND (lease_expires_at <= '10000-01-01 05:44:59.999999+05:45'::timestamp with time zone)) AND ((cancel_requested_at >= '0002-01-01 05:41:16+05:41:16'::timestamp with time zone) AND (cancel_requested_at <= '10000-01-01 05:44:59.999999+05:45'::timestamp with time zone)) AND ((acted_at >= '0002-01-01 05:41:16+05:41:16'::timestamp with time zone) AND (acted_at <= '10000-01-01 05:44:59.999999+05:45'::timestamp with time zone)) AND ((created_at >= '0002-01-01 05:41:16+05:41:16'::timestamp with time zone) AND (created_at <= '10000-01-01 05:44:59.999999+05:45'::timestamp with time zone)) AND ((updated_at >= '0002-01-01 05:41:16+05:41:16'::timestamp with time zone) AND (updated_at <= '10000-01-01 05:44:59.999999+05:45'::timestamp with time zone)) AND ((finished_at >= '0002-01-01 05:41:16+05:41:16'::timestamp with time zone) AND (finished_at <= '10000-01-01 05:44:59.999999+05:45'::timestamp with time zone)))),
    CONSTRAINT jobs_waiting_check CHECK (((waiting_for IS NULL) OR (state = 'pending'::text))),
    CONSTRAINT jobs_waiting_for_check CHECK (((waiting_for IS NULL) OR (waiting_for = ANY (ARRAY['slot'::text, 'dependency'::text, 'connection'::text]))))
)
WITH (fillfactor='85');
ALTER TABLE ONLY public.jobs ALTER COLUMN state SET (n_distinct=5);
ALTER TABLE ONLY public.jobs ALTER COLUMN key SET (n_distinct=100);


--
-- Name: leases; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.leases (
    name text NOT NULL COLLATE pg_catalog."C",
    holder text NOT NULL COLLATE pg_catalog."C",
    term bigint NOT NULL,
    taken_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT leases_term_check CHECK ((term >= 1)),
    CONSTRAINT leases_times_check CHECK ((((taken_at >= '0002-01-01 05:41:16+05:41:16'::timestamp with time zone) AND (taken_at <= '10000-01-01 05:44:59.999999+05:45'::timestamp with time zone)) AND ((expires_at >= '0002-01-01 05:41:16+05:41:16'::timestamp with time zone) AND (expires_at <= '10000-01-01 05:44:59.999999+05:45'::timestamp with time zone))))
)
WITH (fillfactor='85');


--
-- Name: login_links; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.login_links (
    hash text NOT NULL COLLATE pg_catalog."C",
    owner_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    scopes json NOT NULL,
    session_seconds bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    created_by text COLLATE pg_catalog."C",
    revoked_at timestamp with time zone,
    CONSTRAINT login_links_times_check CHECK ((((created_at >= '0002-01-01 05:41:16+05:41:16'::timestamp with time zone) AND (created_at <= '10000-01-01 05:44:59.999999+05:45'::timestamp with time zone)) AND ((expires_at >= '0002-01-01 05:41:16+05:41:16'::timestamp with time zone) AND (expires_at <= '10000-01-01 05:44:59.999999+05:45'::timestamp with time zone)) AND ((used_at >= '0002-01-01 05:41:16+05:41:16'::timestamp with time zone) AND (used_at <= '10000-01-01 05:44:59.999999+05:45'::timestamp with time zone)) AND ((revoked_at >= '0002-01-01 05:41:16+05:41:16'::timestamp with time zone) AND (revoked_at <= '10000-01-01 05:44:59.999999+05:45'::timestamp with time zone))))
);


--
-- Name: meta; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.meta (
    key text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: owners; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.owners (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL
);


--
-- Name: proposal_transitions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.proposal_transitions (
    owner_id text NOT NULL COLLATE pg_catalog."C",
    proposal_id text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    from_state text COLLATE pg_catalog."C",
    to_state text NOT NULL COLLATE pg_catalog."C",
    actor text NOT NULL COLLATE pg_catalog."C",
    entered_at timestamp with time zone NOT NULL,
    CONSTRAINT proposal_transitions_from_check CHECK (((from_state IS NULL) OR (from_state = ANY (ARRAY['open'::text, 'merged'::text, 'closed'::text])))),
    CONSTRAINT proposal_transitions_to_check CHECK ((to_state = ANY (ARRAY['open'::text, 'merged'::text, 'closed'::text])))
);


--
-- Name: proposals; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.proposals (
    id text NOT NULL COLLATE pg_catalog."C",
    owner_id text NOT NULL COLLATE pg_catalog."C",
    repo_id text NOT NULL COLLATE pg_catalog."C",
    stream text NOT NULL COLLATE pg_catalog."C",
    head text NOT NULL COLLATE pg_catalog."C",
    base text COLLATE pg_catalog."C",
    title text NOT NULL COLLATE pg_catalog."C",
    body text COLLATE pg_catalog."C",
    author text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    url text COLLATE pg_catalog."C",
    run_id text COLLATE pg_catalog."C",
    version bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone,
    CONSTRAINT proposals_closed_check CHECK (((state = 'open'::text) = (closed_at IS NULL))),
    CONSTRAINT proposals_state_check CHECK ((state = ANY (ARRAY['open'::text, 'merged'::text, 'closed'::text]))),
    CONSTRAINT proposals_version_check CHECK ((version >= 1))
);
ALTER TABLE ONLY public.proposals ALTER COLUMN stream SET (n_distinct=10);
ALTER TABLE ONLY public.proposals ALTER COLUMN author SET (n_distinct=10);
ALTER TABLE ONLY public.proposals ALTER COLUMN state SET (n_distinct=3);


--
-- Name: repo_names; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.repo_names (
    owner_id text NOT NULL COLLATE pg_catalog."C",
    forge text NOT NULL COLLATE pg_catalog."C",
    host text NOT NULL COLLATE pg_catalog."C",
    namespace text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    repo_id text NOT NULL COLLATE pg_catalog."C",
    replaced_at timestamp with time zone NOT NULL,
    CONSTRAINT repo_names_case_check CHECK (((namespace = lower(namespace)) AND (name = lower(name)))),
    CONSTRAINT repo_names_forge_check CHECK ((forge = ANY (ARRAY['github'::text, 'gitea'::text, 'forgejo'::text, 'gitlab'::text])))
);


--
-- Name: repos; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.repos (
    id text NOT NULL COLLATE pg_catalog."C",
    owner_id text NOT NULL COLLATE pg_catalog."C",
    forge text NOT NULL COLLATE pg_catalog."C",
    host text NOT NULL COLLATE pg_catalog."C",
    namespace text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    default_stream text COLLATE pg_catalog."C",
    labels_synced_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT repos_forge_check CHECK ((forge = ANY (ARRAY['github'::text, 'gitea'::text, 'forgejo'::text, 'gitlab'::text])))
);


--
-- Name: run_logs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.run_logs (
    run_id text NOT NULL COLLATE pg_catalog."C",
    place bigint NOT NULL,
    seq bigint NOT NULL,
    text text NOT NULL COLLATE pg_catalog."C",
    ends_at_byte bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT run_logs_ends_check CHECK ((ends_at_byte >= 0)),
    CONSTRAINT run_logs_place_check CHECK ((place >= 1)),
    CONSTRAINT run_logs_seq_check CHECK ((seq >= 1))
);


--
-- Name: runs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.runs (
    id text NOT NULL COLLATE pg_catalog."C",
    owner_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    connection_id text COLLATE pg_catalog."C",
    job_id text COLLATE pg_catalog."C",
    external_run_id text COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    attempt bigint,
    worker text COLLATE pg_catalog."C",
    token_hash text COLLATE pg_catalog."C",
    generation bigint,
    terminal_reason text COLLATE pg_catalog."C",
    error json,
    facts json,
    progress json,
    scheduler_managed boolean NOT NULL,
    origin text NOT NULL COLLATE pg_catalog."C",
    event_seq bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone NOT NULL,
    completed_at timestamp with time zone,
    deadline_at timestamp with time zone,
    warning text COLLATE pg_catalog."C",
    CONSTRAINT runs_completed_check CHECK (((status = 'running'::text) = (completed_at IS NULL))),
    CONSTRAINT runs_kind_check CHECK ((kind = ANY (ARRAY['job'::text, 'scheduled'::text, 'manual'::text, 'browser'::text, 'webhook'::text]))),
    CONSTRAINT runs_origin_check CHECK ((origin = ANY (ARRAY['live'::text, 'backfill'::text, 'import'::text]))),
    CONSTRAINT runs_status_check CHECK ((status = ANY (ARRAY['running'::text, 'succeeded'::text, 'succeeded_with_gaps'::text, 'failed'::text, 'cancelled'::text, 'abandoned'::text, 'skipped'::text]))),
    CONSTRAINT runs_times_check CHECK ((((created_at >= '0002-01-01 05:41:16+05:41:16'::timestamp with time zone) AND (created_at <= '10000-01-01 05:44:59.999999+05:45'::timestamp with time zone)) AND ((started_at >= '0002-01-01 05:41:16+05:41:16'::timestamp with time zone) AND (started_at <= '10000-01-01 05:44:59.999999+05:45'::timestamp with time zone)) AND ((completed_at >= '0002-01-01 05:41:16+05:41:16'::timestamp with time zone) AND (completed_at <= '10000-01-01 05:44:59.999999+05:45'::timestamp with time zone)) AND ((deadline_at >= '0002-01-01 05:41:16+05:41:16'::timestamp with time zone) AND (deadline_at <= '10000-01-01 05:44:59.999999+05:45'::timestamp with time zone))))
)
WITH (fillfactor='85');
ALTER TABLE ONLY public.runs ALTER COLUMN status SET (n_distinct=7);


--
-- Name: schema_migrations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.schema_migrations (
    version text NOT NULL,
    checksum text
);


--
-- Name: tokens; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.tokens (
    id text NOT NULL COLLATE pg_catalog."C",
    owner_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C",
    scopes json NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    kind text DEFAULT 'bearer'::text NOT NULL COLLATE pg_catalog."C",
    created_by text COLLATE pg_catalog."C",
    CONSTRAINT tokens_kind_check CHECK ((kind = ANY (ARRAY['bearer'::text, 'session'::text]))),
    CONSTRAINT tokens_times_check CHECK ((((created_at >= '0002-01-01 05:41:16+05:41:16'::timestamp with time zone) AND (created_at <= '10000-01-01 05:44:59.999999+05:45'::timestamp with time zone)) AND ((expires_at >= '0002-01-01 05:41:16+05:41:16'::timestamp with time zone) AND (expires_at <= '10000-01-01 05:44:59.999999+05:45'::timestamp with time zone)) AND ((last_used_at >= '0002-01-01 05:41:16+05:41:16'::timestamp with time zone) AND (last_used_at <= '10000-01-01 05:44:59.999999+05:45'::timestamp with time zone)) AND ((revoked_at >= '0002-01-01 05:41:16+05:41:16'::timestamp with time zone) AND (revoked_at <= '10000-01-01 05:44:59.999999+05:45'::timestamp with time zone))))
);


--
-- Name: workers; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.workers (
    owner_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    first_seen_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL
)
WITH (fillfactor='85');


--
-- Data for Name: idempotency_keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.idempotency_keys VALUES ('own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'tok', 'POST /v1/jobs', 'k', 'f', 201, '{"kept":true}', '2026-03-04 10:51:07.890123+05:45', '', NULL);


--
-- Data for Name: job_kinds; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.job_kinds VALUES ('own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'implement', 60, 5, 5, 3600, NULL, NULL, 1, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.job_kinds VALUES ('own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'discover', 60, 5, 5, 3600, NULL, NULL, 1, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.job_kinds VALUES ('own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'sync', 60, 5, 5, 3600, NULL, NULL, 1, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.job_kinds VALUES ('own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'review', 60, 5, 5, 3600, NULL, NULL, 1, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', 604800);


--
-- Data for Name: jobs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.jobs VALUES ('job_01a22df6-5c84-7847-8a40-e30387c7f59e', 'own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'implement', 'pending', NULL, 'issue:github:github.com/acme/widget#7', 'repo_01a22df6-5c83-7e5a-a64c-d98159287888', 7, '{}', 3, '2026-03-04 11:51:07.890123+05:45', 0, 5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL, NULL);
INSERT INTO public.jobs VALUES ('job_01a22df6-5c84-7843-934c-6d5a9bbe18a8', 'own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'implement', 'pending', NULL, 'key-g', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL, 86400);
INSERT INTO public.jobs VALUES ('job_01a22df6-5c84-7845-8dde-8877434f78f0', 'own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'implement', 'pending', NULL, 'key-h', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL, 86400);
INSERT INTO public.jobs VALUES ('job_01a22df6-5c84-7837-b434-b27ed032d66c', 'own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'implement', 'succeeded', NULL, 'key-a', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 1, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '[1,null]', NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', 86400);
INSERT INTO public.jobs VALUES ('job_01a22df6-5c84-783d-a42c-aadb19caed19', 'own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'implement', 'failed', NULL, 'key-b', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 1, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"code":"broken","message":"x"}', NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', 86400);
INSERT INTO public.jobs VALUES ('job_01a22df6-5c84-7840-abb8-72746297b02f', 'own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'implement', 'pending', NULL, 'key-d', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL, 86400);
INSERT INTO public.jobs VALUES ('job_01a22df6-5c84-7841-9664-9ee9ebfd7526', 'own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'implement', 'claimed', NULL, 'key-e', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 1, 1, 'ZTWKLPGR7WBI54GFHRMTHZZSX2.job_01a22df6-5c84-7841-9664-9ee9ebfd7526', 'w', '2026-03-04 10:52:07.890123+05:45', NULL, NULL, NULL, NULL, '{"done":1}', NULL, NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL, 86400);
INSERT INTO public.jobs VALUES ('job_01a22df6-5c84-7842-82dd-7b016e8b94bb', 'own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'implement', 'claimed', NULL, 'key-f', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 1, 1, 'ZTWKLPGR7WBI54GFHRMTHZZSX2.job_01a22df6-5c84-7842-82dd-7b016e8b94bb', 'w', '2026-03-04 10:52:07.890123+05:45', '{"payload":{"n":9007199254740993,"s":"ü"},"priority":3,"run_at":null,"max_attempts":1,"timeout_seconds":86400,"traceparent":null}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL, 86400);
INSERT INTO public.jobs VALUES ('job_01a22df6-5c84-783f-8335-732027a1f0af', 'own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'implement', 'cancelled', NULL, 'key-c', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:52:07.890123+05:45', 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'kept', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', 86400);


--
-- Data for Name: leases; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.leases VALUES ('run-reaper', 'kept', 1, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:52:07.890123+05:45');


--
-- Data for Name: login_links; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.login_links VALUES ('fab7ee96932259a902521c438d7abe2308463de18401f1efd1b7cee3a354a9bd', 'own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'kept', '["jobs:read"]', 3600, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 11:01:07.890123+05:45', NULL, NULL, NULL);
INSERT INTO public.login_links VALUES ('19debfe4feceed510a7e0703d1c8748d6fc0c3e7d8f56aa513a0b2390cc35f16', 'own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'kept', '["jobs:read"]', 3600, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 11:01:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL, NULL);


--
-- Data for Name: meta; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.meta VALUES ('kept', 'yes');


--
-- Data for Name: owners; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.owners VALUES ('own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'keeper', '2026-03-04 10:51:07.890123+05:45');


--
-- Data for Name: proposal_transitions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.proposal_transitions VALUES ('own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'prop_01a22df6-5c90-716c-8cab-399937ad2f4e', 1, NULL, 'open', 'kept', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.proposal_transitions VALUES ('own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'prop_01a22df6-5c91-7c43-b3be-196d21626700', 1, NULL, 'open', 'kept', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.proposal_transitions VALUES ('own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'prop_01a22df6-5c91-7c43-b3be-196d21626700', 2, 'open', 'merged', 'kept', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.proposal_transitions VALUES ('own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'prop_01a22df6-5c93-72df-a5cf-b2e557dd06b5', 1, NULL, 'open', 'kept', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.proposal_transitions VALUES ('own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'prop_01a22df6-5c93-72df-a5cf-b2e557dd06b5', 2, 'open', 'closed', 'kept', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.proposal_transitions VALUES ('own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'prop_01a22df6-5c94-7136-af0a-afc749366897', 1, NULL, 'open', 'kept', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.proposal_transitions VALUES ('own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'prop_01a22df6-5c94-7136-af0a-afc749366897', 2, 'open', 'closed', 'kept', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.proposal_transitions VALUES ('own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'prop_01a22df6-5c94-7136-af0a-afc749366897', 3, 'closed', 'open', 'kept', '2026-03-04 10:51:07.890123+05:45');


--
-- Data for Name: proposals; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.proposals VALUES ('prop_01a22df6-5c90-716c-8cab-399937ad2f4e', 'own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'repo_01a22df6-5c8f-7791-baf1-1ade10b7a952', 'main', 'fix-a', '4f2a', 'Mend <the> roof ü', 'It leaked.', 'ada', 'open', 'https://example.org/7', 'run_01a22df6-5c88-7352-b23f-3f5a3aa30514', 1, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.proposals VALUES ('prop_01a22df6-5c91-7c43-b3be-196d21626700', 'own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'repo_01a22df6-5c8f-7791-baf1-1ade10b7a952', 'main', 'fix-b', '4f2a', 'Mend <the> roof ü', 'It leaked.', 'ada', 'merged', 'https://example.org/7', 'run_01a22df6-5c88-7352-b23f-3f5a3aa30514', 2, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.proposals VALUES ('prop_01a22df6-5c93-72df-a5cf-b2e557dd06b5', 'own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'repo_01a22df6-5c8f-7791-baf1-1ade10b7a952', 'main', 'fix-c', '4f2a', 'Mend <the> roof ü', 'It leaked.', 'ada', 'closed', 'https://example.org/7', 'run_01a22df6-5c88-7352-b23f-3f5a3aa30514', 2, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.proposals VALUES ('prop_01a22df6-5c94-7136-af0a-afc749366897', 'own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'repo_01a22df6-5c8f-7791-baf1-1ade10b7a952', 'main', 'fix-d', '4f2a', 'Mend <the> roof ü', 'It leaked.', 'ada', 'open', 'https://example.org/7', 'run_01a22df6-5c88-7352-b23f-3f5a3aa30514', 3, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);


--
-- Data for Name: repo_names; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.repo_names VALUES ('own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'github', 'github.com', 'acme', 'gadget', 'repo_01a22df6-5c83-7e5a-a64c-d98159287888', '2026-03-04 10:51:07.890123+05:45');


--
-- Data for Name: repos; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.repos VALUES ('repo_01a22df6-5c83-7e5a-a64c-d98159287888', 'own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'github', 'github.com', 'Acme', 'Widget', NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.repos VALUES ('repo_01a22df6-5c8f-7791-baf1-1ade10b7a952', 'own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'gitea', 'git.example.org', 'Acme', 'Site', 'main', NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');


--
-- Data for Name: run_logs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.run_logs VALUES ('run_01a22df6-5c88-7352-b23f-3f5a3aa30514', 64, 1, 'kept
', 5, '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.run_logs VALUES ('run_01a22df6-5c88-7352-b23f-3f5a3aa30514', 128, 2, 'kept
', 10, '2026-03-04 10:51:07.890123+05:45');


--
-- Data for Name: runs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.runs VALUES ('run_01a22df6-5c88-735e-aa7b-723d4f691f07', 'own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'job', NULL, 'job_01a22df6-5c84-7841-9664-9ee9ebfd7526', NULL, 'running', 1, 'w', '6ecfadc7cd8803ba64a8030dfd90d62fc56ab60d73fc1af282c0679453a24270', NULL, NULL, NULL, NULL, NULL, false, 'live', 0, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL, '2026-03-05 10:51:07.890123+05:45', NULL);
INSERT INTO public.runs VALUES ('run_01a22df6-5c88-735f-b1e7-26f7cd79e43e', 'own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'job', NULL, 'job_01a22df6-5c84-7842-82dd-7b016e8b94bb', NULL, 'running', 1, 'w', 'd4274de427502f424da1c3f8672aaee6351250bb47c9820e37d5a63ad9a4b721', NULL, NULL, NULL, NULL, NULL, false, 'live', 0, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL, '2026-03-05 10:51:07.890123+05:45', NULL);
INSERT INTO public.runs VALUES ('run_01a22df6-5c88-7357-b34a-e1c44859d64c', 'own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'job', NULL, 'job_01a22df6-5c84-783d-a42c-aadb19caed19', NULL, 'failed', 1, 'w', 'e4d76e4336c35e1126df82076c7b8467d7b2cbeb4fd0227da931364e7296bfb8', NULL, NULL, '{"code":"broken","message":"x"}', NULL, NULL, false, 'live', 0, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-05 10:51:07.890123+05:45', NULL);
INSERT INTO public.runs VALUES ('run_01a22df6-5c88-7359-a6c9-9b3002e993d1', 'own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'job', NULL, 'job_01a22df6-5c84-783f-8335-732027a1f0af', NULL, 'cancelled', 1, 'w', 'e10e02e030ef5f3a90b668d8f11a6243f70b92fa1e3c30341fc571adae89f20e', NULL, 'snoozed', NULL, NULL, NULL, false, 'live', 0, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-05 10:51:07.890123+05:45', NULL);
INSERT INTO public.runs VALUES ('run_01a22df6-5c88-735c-94da-dab91eaee8be', 'own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'job', NULL, 'job_01a22df6-5c84-7840-abb8-72746297b02f', NULL, 'cancelled', 1, 'w', 'a6f2592379c3cd0387e1860f34cc322a187b422b966b741bcfe2d7a6be921e0d', NULL, 'released', NULL, NULL, NULL, false, 'live', 0, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-05 10:51:07.890123+05:45', NULL);
INSERT INTO public.runs VALUES ('run_01a22df6-5c88-7352-b23f-3f5a3aa30514', 'own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'job', NULL, 'job_01a22df6-5c84-7837-b434-b27ed032d66c', NULL, 'succeeded', 1, 'w', 'aec685824a8757baee2553900a025dd934dd8fe0ed11ae36b7c722bbe7c3cc1b', NULL, NULL, NULL, NULL, NULL, false, 'live', 0, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-05 10:51:07.890123+05:45', 'The result was no JSON: ü');


--
-- Data for Name: schema_migrations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.schema_migrations VALUES ('0001', 'f6de591855b0d3a3c5e7a143f9b8019d60f86897d38685c495b087f87a7e396d');
INSERT INTO public.schema_migrations VALUES ('0002', '30accdf7da6d35c53cf47258e438bc7e990fdaf5ab793087bdb9c8271186bd61');
INSERT INTO public.schema_migrations VALUES ('0003', '451a47537c910f308f872dae62d9952f4ff1aaa2467562de4138117590554bd2');
INSERT INTO public.schema_migrations VALUES ('0004', '94f169902a501436a3a5d7a7531ff41306fe539e22689cc16ad2cac1b5f3a0d1');
INSERT INTO public.schema_migrations VALUES ('0005', '8a6a05246873d464d4e97d4c53124cf9674a8cf7950314e0d88864026c1a2546');
INSERT INTO public.schema_migrations VALUES ('0006', 'b3f5e4c8c0e8618d8a2b7c41c3d6f97f29429b5bd88ad41cca3b94403be38b73');
INSERT INTO public.schema_migrations VALUES ('0007', 'c8f7c1cd9476366738d49bedf84bdb0725c1ff117783b100916db8134a6e4176');
INSERT INTO public.schema_migrations VALUES ('0008', 'eae790fa120a6d7526fd21ddd01b3624a4b302d942be27c7958da44aa549118d');
INSERT INTO public.schema_migrations VALUES ('0009', '1dbad67cf949b4ef51b3223e0b091ea6111fedfc182b76b9a3275d674695ef24');
INSERT INTO public.schema_migrations VALUES ('0010', '41edfd28cfd28efaa9811083eb1cc89d326835ce793f9a4a1ff84dd9915fe7e8');
INSERT INTO public.schema_migrations VALUES ('0011', '38e35605c40ccd3d0234b122af6d1d7f20fc5b605a0284b70a802b236980510c');
INSERT INTO public.schema_migrations VALUES ('0012', 'aa2f34b3b2752370d8c092273d8289c54d30b04be990034ad8b3b81452f2f432');
INSERT INTO public.schema_migrations VALUES ('0013', 'c087d3c95ab77faf4b86fb5e3fee4961e6d8f7cf273f76d8a3e06f1590749a62');
INSERT INTO public.schema_migrations VALUES ('0014', 'b6b9838d346ab5afb3c088a6377e6d8766dce5307476ca6b5577535abd6eab3d');
INSERT INTO public.schema_migrations VALUES ('0015', '21f9957245178305d258a65c1e97f1e4e6e2b9b920d8fe3ad3e4d6b226c13a36');
INSERT INTO public.schema_migrations VALUES ('0016', '57cc3b97e45bcb859ac50cdac5e2f59564fae83dfa277ac48ff8f869d51799ca');
INSERT INTO public.schema_migrations VALUES ('0017', 'aed1cf73baa78d6968d4bd202da2606237309fd2aaaa03c11d9dbad3ed3b7266');
INSERT INTO public.schema_migrations VALUES ('0018', '7f7400f2c49a84175e3d8e11d57dee91c3960fe1a16b31822fb420d2ca8ca58f');
INSERT INTO public.schema_migrations VALUES ('0019', '1a7ad69bf675005d6337ae6203834d6ce3f588bcf940b83855b8f340b6d937ba');
INSERT INTO public.schema_migrations VALUES ('0020', 'adc60e917e4d54d84cfaf416974d64914dea283aeb65645f3670b1fa361d8877');


--
-- Data for Name: tokens; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tokens VALUES ('tok_01a22df6-5c80-7155-aca2-4b892fc87c29', 'own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'kept', 'ba291b701fbd95fab794afd9539874ee6fe7632e96fa574dd2436422747703dd', '["admin"]', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 11:51:07.890123+05:45', NULL, NULL, 'bearer', NULL);
INSERT INTO public.tokens VALUES ('tok_01a22df6-5c96-7f38-a341-427baad2746a', 'own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'kept', 'f915f734f7d0f2e39e056f5f82ef4306f822a091e4c1d12a26bee9844f35e251', '["jobs:read"]', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 11:51:07.890123+05:45', NULL, NULL, 'session', NULL);


--
-- Data for Name: workers; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.workers VALUES ('own_01a22df6-5c7d-7dec-96f7-5e0d0c70ec6d', 'w', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');


--
-- Name: idempotency_keys idempotency_keys_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (owner_id, principal, route, key);


--
-- Name: job_kinds job_kinds_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.job_kinds
    ADD CONSTRAINT job_kinds_pkey PRIMARY KEY (owner_id, name);


--
-- Name: jobs jobs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);


--
-- Name: leases leases_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (name);


--
-- Name: login_links login_links_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.login_links
    ADD CONSTRAINT login_links_pkey PRIMARY KEY (hash);


--
-- Name: meta meta_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.meta
    ADD CONSTRAINT meta_pkey PRIMARY KEY (key);


--
-- Name: owners owners_name_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.owners
    ADD CONSTRAINT owners_name_key UNIQUE (name);


--
-- Name: owners owners_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.owners
    ADD CONSTRAINT owners_pkey PRIMARY KEY (id);


--
-- Name: proposal_transitions proposal_transitions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.proposal_transitions
    ADD CONSTRAINT proposal_transitions_pkey PRIMARY KEY (owner_id, proposal_id, version);


--
-- Name: proposals proposals_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.proposals
    ADD CONSTRAINT proposals_pkey PRIMARY KEY (id);


--
-- Name: repo_names repo_names_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.repo_names
    ADD CONSTRAINT repo_names_pkey PRIMARY KEY (owner_id, forge, host, namespace, name);


--
-- Name: repos repos_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.repos
    ADD CONSTRAINT repos_pkey PRIMARY KEY (id);


--
-- Name: run_logs run_logs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.run_logs
    ADD CONSTRAINT run_logs_pkey PRIMARY KEY (run_id, place);


--
-- Name: runs runs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (id);


--
-- Name: schema_migrations schema_migrations_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);


--
-- Name: tokens tokens_hash_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_hash_key UNIQUE (hash);


--
-- Name: tokens tokens_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (id);


--
-- Name: workers workers_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (owner_id, name);


--
-- Name: idempotency_keys_by_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idempotency_keys_by_created ON public.idempotency_keys USING btree (created_at);


--
-- Name: jobs_by_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_by_created ON public.jobs USING btree (owner_id, created_at, id);


--
-- Name: jobs_by_key; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_by_key ON public.jobs USING btree (owner_id, key, created_at, id) WHERE (key IS NOT NULL);


--
-- Name: jobs_by_state; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_by_state ON public.jobs USING btree (owner_id, state, created_at, id);


--
-- Name: jobs_claim; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_claim ON public.jobs USING btree (owner_id, kind, priority, run_at, id) WHERE (COALESCE(waiting_for, state) = 'pending'::text);


--
-- Name: jobs_claimed; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_claimed ON public.jobs USING btree (id) WHERE (state = 'claimed'::text);


--
-- Name: jobs_live_key; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX jobs_live_key ON public.jobs USING btree (owner_id, key) WHERE (finished_at IS NULL);


--
-- Name: login_links_by_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX login_links_by_created ON public.login_links USING btree (owner_id, created_at, hash);


--
-- Name: login_links_by_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX login_links_by_expiry ON public.login_links USING btree (expires_at);


--
-- Name: login_links_by_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX login_links_by_id ON public.login_links USING btree (owner_id, hash);


--
-- Name: login_links_by_maker; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX login_links_by_maker ON public.login_links USING btree (owner_id, created_by) WHERE ((used_at IS NULL) AND (revoked_at IS NULL));


--
-- Name: proposals_by_author_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX proposals_by_author_created ON public.proposals USING btree (repo_id, author, created_at DESC, id DESC) INCLUDE (state, stream);


--
-- Name: proposals_by_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX proposals_by_created ON public.proposals USING btree (repo_id, created_at DESC, id DESC);


--
-- Name: proposals_by_state_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX proposals_by_state_created ON public.proposals USING btree (repo_id, state, created_at DESC, id DESC);


--
-- Name: proposals_by_state_stream_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX proposals_by_state_stream_created ON public.proposals USING btree (repo_id, state, stream, created_at DESC, id DESC);


--
-- Name: proposals_by_stream_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX proposals_by_stream_created ON public.proposals USING btree (repo_id, stream, created_at DESC, id DESC);


--
-- Name: proposals_open_head; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX proposals_open_head ON public.proposals USING btree (repo_id, stream, head) WHERE (closed_at IS NULL);


--
-- Name: repo_names_by_name; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX repo_names_by_name ON public.repo_names USING btree (owner_id, (((namespace || '/'::text) || name)));


--
-- Name: repo_names_by_repo; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX repo_names_by_repo ON public.repo_names USING btree (repo_id, replaced_at, name);


--
-- Name: repos_by_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX repos_by_created ON public.repos USING btree (owner_id, created_at, id);


--
-- Name: repos_by_name; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX repos_by_name ON public.repos USING btree (owner_id, lower(((namespace || '/'::text) || name)), created_at, id);


--
-- Name: repos_identity; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX repos_identity ON public.repos USING btree (owner_id, forge, host, lower(namespace), lower(name));


--
-- Name: runs_by_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX runs_by_created ON public.runs USING btree (owner_id, created_at, id);


--
-- Name: runs_by_job; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX runs_by_job ON public.runs USING btree (owner_id, job_id, created_at, id) WHERE (job_id IS NOT NULL);


--
-- Name: runs_by_status; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX runs_by_status ON public.runs USING btree (owner_id, status, created_at, id);


--
-- Name: runs_external; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX runs_external ON public.runs USING btree (connection_id, external_run_id) WHERE (external_run_id IS NOT NULL);


--
-- Name: runs_running_job; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX runs_running_job ON public.runs USING btree (owner_id, job_id) WHERE ((status = 'running'::text) AND (job_id IS NOT NULL));


--
-- Name: tokens_by_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tokens_by_created ON public.tokens USING btree (owner_id, created_at, id);


--
-- Name: tokens_by_maker; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tokens_by_maker ON public.tokens USING btree (owner_id, created_by);


--
-- Name: tokens_sessions_by_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tokens_sessions_by_expiry ON public.tokens USING btree (expires_at) WHERE (kind = 'session'::text);


--
-- Name: workers_by_seen; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX workers_by_seen ON public.workers USING btree (last_seen_at);


--
-- Name: idempotency_keys idempotency_keys_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.owners(id);


--
-- Name: job_kinds job_kinds_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.job_kinds
    ADD CONSTRAINT job_kinds_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.owners(id);


--
-- Name: jobs jobs_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.owners(id);


--
-- Name: jobs jobs_repo_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES public.repos(id);


--
-- Name: login_links login_links_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.login_links
    ADD CONSTRAINT login_links_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.owners(id);


--
-- Name: proposal_transitions proposal_transitions_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.proposal_transitions
    ADD CONSTRAINT proposal_transitions_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.owners(id);


--
-- Name: proposal_transitions proposal_transitions_proposal_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.proposal_transitions
    ADD CONSTRAINT proposal_transitions_proposal_id_fkey FOREIGN KEY (proposal_id) REFERENCES public.proposals(id);


--
-- Name: proposals proposals_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.proposals
    ADD CONSTRAINT proposals_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.owners(id);


--
-- Name: proposals proposals_repo_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.proposals
    ADD CONSTRAINT proposals_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES public.repos(id);


--
-- Name: repo_names repo_names_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.repo_names
    ADD CONSTRAINT repo_names_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.owners(id);


--
-- Name: repo_names repo_names_repo_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.repo_names
    ADD CONSTRAINT repo_names_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES public.repos(id);


--
-- Name: repos repos_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.repos
    ADD CONSTRAINT repos_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.owners(id);


--
-- Name: run_logs run_logs_run_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.run_logs
    ADD CONSTRAINT run_logs_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(id) ON DELETE CASCADE;


--
-- Name: runs runs_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.owners(id);


--
-- Name: tokens tokens_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.owners(id);


--
-- Name: workers workers_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.workers
    ADD CONSTRAINT workers_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.owners(id);


--
--


