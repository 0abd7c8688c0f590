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
    CONSTRAINT idempotency_keys_status_check CHECK (((status = 0) OR ((status >= 200) AND (status <= 499))))
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
    CONSTRAINT job_kinds_attempts_check CHECK (((max_attempts >= 1) AND (max_attempts <= 100))),
    CONSTRAINT job_kinds_backoff_check CHECK ((((backoff_base_seconds >= 1) AND (backoff_base_seconds <= backoff_cap_seconds)) AND (backoff_cap_seconds <= 2592000))),
    CONSTRAINT job_kinds_lease_check CHECK (((lease_seconds >= 10) AND (lease_seconds <= 86400)))
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
    CONSTRAINT jobs_actor_check CHECK (((actor IS NULL) = (acted_at IS NULL))),
    CONSTRAINT jobs_again_check CHECK (((again IS NULL) OR (state = 'claimed'::text))),
    CONSTRAINT jobs_attempt_check CHECK ((((attempt >= 0) AND (attempt <= max_attempts)) AND ((max_attempts >= 1) AND (max_attempts <= 100)))),
    CONSTRAINT jobs_finished_check CHECK (((state = ANY (ARRAY['succeeded'::text, 'failed'::text, 'cancelled'::text])) = (finished_at IS NOT NULL))),
    CONSTRAINT jobs_issue_check CHECK (((issue_number IS NULL) OR (repo_id IS NOT NULL))),
    CONSTRAINT jobs_lease_check CHECK ((((state = 'claimed'::text) = (lease_token IS NOT NULL)) AND ((state = 'claimed'::text) = (claimed_by IS NOT NULL)) AND ((state = 'claimed'::text) = (lease_expires_at IS NOT NULL)))),
    CONSTRAINT jobs_priority_check CHECK (((priority >= 1) AND (priority <= 4))),
    CONSTRAINT jobs_run_at_check CHECK (((run_at >= '0002-01-01 05:41:16+05:41:16'::timestamp with time zone) AND (run_at <= '10000-01-01 05:44:59.999999+05:45'::timestamp with time zone))),
    CONSTRAINT jobs_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'claimed'::text, 'succeeded'::text, 'failed'::text, 'cancelled'::text]))),
    CONSTRAINT jobs_waiting_check CHECK (((waiting_for IS NULL) OR (state = 'pending'::text))),
    CONSTRAINT jobs_waiting_for_check CHECK (((waiting_for IS NULL) OR (waiting_for = ANY (ARRAY['slot'::text, 'dependency'::text, 'connection'::text]))))
)
WITH (fillfactor='85');


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
    CONSTRAINT runs_completed_check CHECK (((status = 'running'::text) = (completed_at IS NULL))),
    CONSTRAINT runs_kind_check CHECK ((kind = ANY (ARRAY['job'::text, 'scheduled'::text, 'manual'::text, 'browser'::text, 'webhook'::text]))),
    CONSTRAINT runs_origin_check CHECK ((origin = ANY (ARRAY['live'::text, 'backfill'::text, 'import'::text]))),
    CONSTRAINT runs_status_check CHECK ((status = ANY (ARRAY['running'::text, 'succeeded'::text, 'succeeded_with_gaps'::text, 'failed'::text, 'cancelled'::text, 'abandoned'::text, 'skipped'::text])))
)
WITH (fillfactor='85');


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
    revoked_at timestamp with time zone
);


--
-- Data for Name: idempotency_keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.idempotency_keys VALUES ('own_01a22858-0238-7939-a119-e42adf8047d4', 'tok', 'POST /v1/jobs', 'k', 'f', 201, '{"kept":true}');


--
-- Data for Name: job_kinds; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.job_kinds VALUES ('own_01a22858-0238-7939-a119-e42adf8047d4', 'implement', 60, 5, 5, 3600, NULL, NULL, 1, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.job_kinds VALUES ('own_01a22858-0238-7939-a119-e42adf8047d4', 'review', 60, 5, 5, 3600, NULL, NULL, 1, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.job_kinds VALUES ('own_01a22858-0238-7939-a119-e42adf8047d4', 'discover', 60, 5, 5, 3600, NULL, NULL, 1, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.job_kinds VALUES ('own_01a22858-0238-7939-a119-e42adf8047d4', 'sync', 60, 5, 5, 3600, NULL, NULL, 1, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');


--
-- Data for Name: jobs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.jobs VALUES ('job_01a22858-0292-7736-a64f-1f696532b833', 'own_01a22858-0238-7939-a119-e42adf8047d4', 'implement', 'pending', NULL, 'issue:github:github.com/acme/widget#7', 'repo_01a22858-0271-7c86-84ed-89900eabd88a', 7, '{}', 3, '2026-03-04 11:51:07.890123+05:45', 0, 5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.jobs VALUES ('job_01a22858-0292-7732-9b8c-6f96c66fcccf', 'own_01a22858-0238-7939-a119-e42adf8047d4', 'implement', 'pending', NULL, 'key-g', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.jobs VALUES ('job_01a22858-0292-7735-9fcc-fa11a35e70c1', 'own_01a22858-0238-7939-a119-e42adf8047d4', 'implement', 'pending', NULL, 'key-h', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.jobs VALUES ('job_01a22858-0292-7720-bdd3-57f0b23060d2', 'own_01a22858-0238-7939-a119-e42adf8047d4', 'implement', 'succeeded', NULL, 'key-a', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 1, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '[1,null]', NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.jobs VALUES ('job_01a22858-0292-772b-b235-d5edd56a587c', 'own_01a22858-0238-7939-a119-e42adf8047d4', 'implement', 'failed', NULL, 'key-b', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 1, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"code":"broken","message":"x"}', NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.jobs VALUES ('job_01a22858-0292-772f-a075-39f9de5b7f60', 'own_01a22858-0238-7939-a119-e42adf8047d4', 'implement', 'pending', NULL, 'key-d', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.jobs VALUES ('job_01a22858-0292-7730-b21a-b171bd263f86', 'own_01a22858-0238-7939-a119-e42adf8047d4', 'implement', 'claimed', NULL, 'key-e', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 1, 1, 'KW34K6J2SJBQVZH72BISOY5455.job_01a22858-0292-7730-b21a-b171bd263f86', 'w', '2026-03-04 10:52:07.890123+05:45', NULL, NULL, NULL, NULL, '{"done":1}', NULL, NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.jobs VALUES ('job_01a22858-0292-7731-b26a-22e1b9f559cf', 'own_01a22858-0238-7939-a119-e42adf8047d4', 'implement', 'claimed', NULL, 'key-f', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 1, 1, 'KW34K6J2SJBQVZH72BISOY5455.job_01a22858-0292-7731-b26a-22e1b9f559cf', 'w', '2026-03-04 10:52:07.890123+05:45', '{"payload":{"n":9007199254740993,"s":"ü"},"priority":3,"run_at":null,"max_attempts":1,"traceparent":null}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.jobs VALUES ('job_01a22858-0292-772d-9c74-ed174558a898', 'own_01a22858-0238-7939-a119-e42adf8047d4', 'implement', 'cancelled', NULL, 'key-c', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:52:07.890123+05:45', 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'kept', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');


--
-- Data for Name: meta; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.meta VALUES ('kept', 'yes');


--
-- Data for Name: owners; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.owners VALUES ('own_01a22858-0238-7939-a119-e42adf8047d4', 'keeper', '2026-03-04 10:51:07.890123+05:45');


--
-- Data for Name: repos; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.repos VALUES ('repo_01a22858-0271-7c86-84ed-89900eabd88a', 'own_01a22858-0238-7939-a119-e42adf8047d4', 'github', 'github.com', 'Acme', 'Widget', NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');


--
-- Data for Name: runs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.runs VALUES ('run_01a22858-02b9-7cbf-a261-ee1a165c1765', 'own_01a22858-0238-7939-a119-e42adf8047d4', 'job', NULL, 'job_01a22858-0292-7730-b21a-b171bd263f86', NULL, 'running', 1, 'w', 'bc0ed92f71336ed20673bcc23183a95f38d0d925813825f99d41db1176400108', NULL, NULL, NULL, NULL, NULL, false, 'live', 0, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.runs VALUES ('run_01a22858-02b9-7cc0-be6f-ca0a4e8bf1b6', 'own_01a22858-0238-7939-a119-e42adf8047d4', 'job', NULL, 'job_01a22858-0292-7731-b26a-22e1b9f559cf', NULL, 'running', 1, 'w', '7c220044b6745870708f95a3fdb8ad4746d5a5c9285d59fa404c32bd6689e499', NULL, NULL, NULL, NULL, NULL, false, 'live', 0, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.runs VALUES ('run_01a22858-02b9-7ca2-89ae-a900a8840b5c', 'own_01a22858-0238-7939-a119-e42adf8047d4', 'job', NULL, 'job_01a22858-0292-7720-bdd3-57f0b23060d2', NULL, 'succeeded', 1, 'w', 'cc120274c1240ec96b2cbfbcfe12b572981b7197fe0646ac03d84697e2e34983', NULL, NULL, NULL, NULL, NULL, false, 'live', 0, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.runs VALUES ('run_01a22858-02b9-7cb6-b04c-e18a8daa7004', 'own_01a22858-0238-7939-a119-e42adf8047d4', 'job', NULL, 'job_01a22858-0292-772b-b235-d5edd56a587c', NULL, 'failed', 1, 'w', '04c2936902ac26d8e4e324a26bae62e2dddaef199f69326a0a51e996c01e0b2f', NULL, NULL, '{"code":"broken","message":"x"}', NULL, NULL, false, 'live', 0, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.runs VALUES ('run_01a22858-02b9-7cb9-82e6-9fce69a7788a', 'own_01a22858-0238-7939-a119-e42adf8047d4', 'job', NULL, 'job_01a22858-0292-772d-9c74-ed174558a898', NULL, 'cancelled', 1, 'w', 'efa4805a9fbed9b0754b8cca47f9eca5b3ab32c2ee2af6dba44068e3e73a8a11', NULL, 'snoozed', NULL, NULL, NULL, false, 'live', 0, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.runs VALUES ('run_01a22858-02b9-7cbb-afeb-1a88faaed3d6', 'own_01a22858-0238-7939-a119-e42adf8047d4', 'job', NULL, 'job_01a22858-0292-772f-a075-39f9de5b7f60', NULL, 'cancelled', 1, 'w', '1d5ff60d7151eec0ee2165f63ab579867c1ad1dacb6bb3e3c2cf9948a656c673', NULL, 'released', NULL, NULL, NULL, false, 'live', 0, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');


--
-- Data for Name: schema_migrations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.schema_migrations VALUES ('0001', '472385d2465964f22eb0f3b870f7622314d908e3b24556da5db0edf92fae1b94');


--
-- Data for Name: tokens; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tokens VALUES ('tok_01a22858-0259-7d00-814d-1ebe17efd243', 'own_01a22858-0238-7939-a119-e42adf8047d4', 'kept', '7d3e35cab27551945da3f6102dbedeb0f8c6a23f6da17b64f352b8e987591400', '["admin"]', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 11:51:07.890123+05:45', NULL, NULL);


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
-- Name: repos repos_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.repos
    ADD CONSTRAINT repos_pkey PRIMARY KEY (id);


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

CREATE INDEX jobs_claim ON public.jobs USING btree (owner_id, kind, priority, run_at, id) WHERE ((state = 'pending'::text) AND (waiting_for IS NULL));


--
-- Name: jobs_claimed; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_claimed ON public.jobs USING btree (id) WHERE (state = 'claimed'::text);


--
-- Name: jobs_live_key; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX jobs_live_key ON public.jobs USING btree (owner_id, key) WHERE (state = ANY (ARRAY['pending'::text, 'claimed'::text]));


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

CREATE UNIQUE INDEX runs_running_job ON public.runs USING btree (job_id) WHERE ((status = 'running'::text) AND (job_id IS NOT NULL));


--
-- Name: tokens_by_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tokens_by_created ON public.tokens USING btree (owner_id, created_at, id);


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
-- Name: repos repos_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.repos
    ADD CONSTRAINT repos_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.owners(id);


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
--


