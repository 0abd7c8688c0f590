package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	stint "github.com/stint-run/stint/client"
	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
	"github.com/stint-run/stint/server/bounded"
)

// enqueueFlags are the flags of stint job enqueue.
type enqueueFlags struct {
	body             client.EnqueueBody
	payload, repo    string
	in               *int64 // seconds from now
	idempotencyKey   *string
	noIdempotencyKey bool
	from, runID      string
}

func jobEnqueueCmd(g *globals) *cobra.Command {
	f := &enqueueFlags{}
	cmd := &cobra.Command{
		Use:   "enqueue --kind KIND | --from FILE",
		Short: "Enqueue a job, or one job for each line of a file",
		Long: `Enqueue a job. A live job with the same key is met, not doubled.

Every request carries an Idempotency-Key, so that a request whose answer was lost
can be repeated without a second effect; it costs the server one more row for
each request. --no-idempotency-key leaves it out.

With --from each line is a JSON object with the members of the API's enqueue:
kind (default --kind), key, repo, issue_number, payload, priority, run_at,
max_attempts, timeout_seconds, on_duplicate. Lines go in batches of up to 1,000, each batch in
one transaction. A file is checked line by line before anything is sent; standard
input is checked batch by batch. What the server refuses is named by its line.
If a run breaks off, run it again with the --run-id it printed: batches that were
done are answered, not repeated.`,
		Example: `  stint job enqueue --kind review --key pr-17 --payload '{"pr": 17}'
  stint job enqueue --kind audit --from modules.ndjson`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(cmd.Flags()); err != nil {
				return err
			}
			if f.from != "" {
				return enqueueFile(cmd, g, f)
			}
			return enqueueOne(cmd, g, f)
		},
	}
	f.add(cmd)
	return cmd
}

func (f *enqueueFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.body.Kind, "kind", "", "kind of job")
	givenText(flags, &f.body.Key, "key", "at most one live job has this key")
	flags.StringVar(&f.payload, "payload", "", "any JSON value; @FILE reads it from a file, @- from standard input")
	flags.StringVar(&f.repo, "repo", "", "the repository it is about: FORGE:[HOST/]NAMESPACE/NAME, as in github:stint-run/stint")
	givenNumber(flags, &f.body.IssueNumber, "issue", "with --repo: the issue, which becomes the key")
	givenNumber(flags, &f.body.Priority, "priority", "1 (most urgent) to 4 (default 3)")
	givenNumber(flags, &f.body.MaxAttempts, "max-attempts", "1 to 100 (default the kind's)")
	givenSeconds(flags, &f.body.TimeoutSeconds, "timeout", "time limit of each attempt, 1s to 168h (default the kind's)")
	givenTime(flags, &f.body.RunAt, "run-at", "not before this time, RFC 3339")
	givenSeconds(flags, &f.in, "in", "not before this long from now")
	givenText(flags, &f.body.OnDuplicate, "on-duplicate", "what a live job with the key becomes: replace (default) or keep")
	givenText(flags, &f.idempotencyKey, "idempotency-key", "instead of a random one")
	flags.BoolVar(&f.noIdempotencyKey, "no-idempotency-key", false, "send none")
	flags.StringVar(&f.from, "from", "", "NDJSON file, a job a line; - is standard input")
	flags.StringVar(&f.runID, "run-id", "", "with --from: the run to continue")
}

// ofOneJob are the flags that a file has no use for: each line has members of its own.
var ofOneJob = []string{"key", "payload", "repo", "issue", "priority", "max-attempts", "timeout", "run-at", "in", "on-duplicate", "idempotency-key"}

func (f *enqueueFlags) check(flags *pflag.FlagSet) error {
	if f.runID != "" && f.from == "" {
		return usagef("--run-id goes with --from")
	}
	if f.noIdempotencyKey && flags.Changed("idempotency-key") {
		return usagef("--idempotency-key and --no-idempotency-key exclude each other")
	}
	for _, name := range ofOneJob {
		if f.from != "" && flags.Changed(name) {
			return usagef("--%s is for one job, not for a file (--from): there each line has members of its own", name)
		}
	}
	return nil
}

func enqueueOne(cmd *cobra.Command, g *globals, f *enqueueFlags) error {
	if err := f.fill(cmd); err != nil {
		return usage(err)
	}
	c, err := g.api()
	if err != nil {
		return err
	}
	params := client.EnqueueJobParams{IdempotencyKey: f.idempotencyKey, Traceparent: traceparent()}
	contentType, r := api.Body(f.body)
	done, err := api.Answer[client.Enqueued](c.EnqueueJobWithBody(cmd.Context(), &params, contentType, r, f.editors()...))
	if err != nil {
		return err
	}
	return g.printAction(cmd, done.Raw, done.Value.Job.ID, enqueuedWords(done.Value))
}

// editors take the Idempotency-Key away if none is wanted.
func (f *enqueueFlags) editors() []client.RequestEditorFn {
	if f.noIdempotencyKey {
		return []client.RequestEditorFn{stint.WithoutIdempotencyKey}
	}
	return nil
}

func enqueuedWords(e client.Enqueued) string {
	switch {
	case e.Again:
		return fmt.Sprintf("%s is %s; it runs again afterwards", e.Job.ID, e.Job.State)
	case e.Deduplicated:
		return fmt.Sprintf("%s was there already and is %s", e.Job.ID, e.Job.State)
	}
	return "enqueued " + e.Job.ID
}

// traceparent is the trace that the caller works in, or nil.
func traceparent() *string {
	if parent := os.Getenv("TRACEPARENT"); parent != "" {
		return &parent
	}
	return nil
}

// fill makes those members of the job that a flag spells in another way.
func (f *enqueueFlags) fill(cmd *cobra.Command) (err error) {
	if f.body.Kind == "" {
		return errors.New("--kind is missing")
	}
	if f.in != nil {
		if f.body.RunAt, err = f.due(time.Now()); err != nil {
			return err
		}
	}
	if cmd.Flags().Changed("repo") {
		if f.body.Repo, err = parseRepo(f.repo); err != nil {
			return err
		}
	}
	f.body.Payload, err = givenJSON(cmd, "payload", f.payload)
	return err
}

// due is the time that --in means.
func (f *enqueueFlags) due(now time.Time) (*time.Time, error) {
	if f.body.RunAt != nil {
		return nil, errors.New("--run-at and --in exclude each other")
	}
	if wait := time.Duration(*f.in) * time.Second; wait >= 0 {
		return new(now.Add(wait).UTC().Truncate(time.Microsecond)), nil
	}
	return nil, errors.New("--in is not negative")
}

// parseRepo reads FORGE:[HOST/]NAMESPACE/NAME. A namespace may itself have
// slashes on GitLab, so what stands first is the host if it has a dot or colon.
func parseRepo(s string) (*client.RepoBody, error) {
	forge, path, ok := strings.Cut(s, ":")
	slash := strings.LastIndex(path, "/")
	if !ok || slash < 1 || slash == len(path)-1 {
		return nil, fmt.Errorf("--repo is FORGE:[HOST/]NAMESPACE/NAME, not %q", s)
	}
	repo := &client.RepoBody{Forge: client.RepoBodyForge(forge), Namespace: path[:slash], Name: path[slash+1:]}
	if host, rest, found := strings.Cut(repo.Namespace, "/"); found && strings.ContainsAny(host, ".:") {
		repo.Host, repo.Namespace = &host, rest
	}
	return repo, nil
}

// maxValue is above every bound that the server has for one value, in bytes.
const maxValue = 1 << 20

// readJSON is the JSON value of a flag: itself, or what @FILE or @- holds.
func readJSON(flag, value string, stdin io.Reader) (json.RawMessage, error) {
	text := []byte(value)
	if path, ok := strings.CutPrefix(value, "@"); ok {
		var err error
		if text, err = readNamed(path, stdin, maxValue); err != nil {
			return nil, fmt.Errorf("read %s: %w", flag, err)
		}
	}
	text = bytes.TrimSpace(text)
	if !json.Valid(text) {
		return nil, fmt.Errorf("%s is not JSON (a text needs quotes, as in '\"text\"')", flag)
	}
	return text, nil
}

// readNamed reads a file, or standard input if its path is -, of at most so many
// bytes.
func readNamed(path string, stdin io.Reader, most int64) ([]byte, error) {
	if path == "-" {
		return bounded.All(stdin, most)
	}
	return bounded.File(path, most)
}
