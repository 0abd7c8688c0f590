package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
)

// A batch is what the API takes at once, with room for its envelope.
const (
	batchItems = 1000
	batchBytes = 8 << 20
	maxLine    = 1 << 20
	maxFaults  = 20 // bad lines that are named before the rest is only counted
	// retryFor is how long a batch is sent again to a server that is away.
	retryFor = time.Minute
)

// numbered is a line of the input that is to be a job.
type numbered struct {
	line int
	body json.RawMessage
}

// enqueuer sends a file in batches.
type enqueuer struct {
	flags *enqueueFlags
	api   *client.Client
	bar   *progress
	n     int // batches sent
	sum   enqueueSum
}

// enqueueSum is what became of the lines.
type enqueueSum struct {
	RunID        string    `json:"run_id"`
	Enqueued     int       `json:"enqueued"`
	Deduplicated int       `json:"deduplicated"`
	Refused      []refused `json:"refused"`
}

type refused struct {
	Line   int    `json:"line"`
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

func enqueueFile(cmd *cobra.Command, g *globals, f *enqueueFlags) error {
	in, total, err := openLines(cmd, f)
	if err != nil {
		return err
	}
	defer in.Close()
	c, err := g.api()
	if err != nil {
		return err
	}
	if f.runID == "" {
		f.runID = uuid.NewString()
	}
	e := &enqueuer{flags: f, api: c, bar: newProgress(g, cmd.ErrOrStderr(), "jobs", total),
		sum: enqueueSum{RunID: f.runID, Refused: []refused{}}}
	err = eachBatch(in, f.body.Kind, func(batch []numbered) error { return e.send(cmd.Context(), batch) })
	e.bar.end()
	if err != nil && (e.done() > 0 || api.Retry(err)) {
		return fmt.Errorf("%w\nstint: %d lines are done; to continue without doubles run it again with --run-id %s", err, e.done(), f.runID)
	}
	if err != nil {
		return err
	}
	return e.report(cmd, g)
}

// openLines opens the input. A file is read once to the end first, so that a
// bad line is found before anything is sent.
func openLines(cmd *cobra.Command, f *enqueueFlags) (io.ReadCloser, int, error) {
	if f.from == "-" {
		return io.NopCloser(cmd.InOrStdin()), 0, nil
	}
	file, err := os.Open(f.from)
	if err != nil {
		return nil, 0, usage(err)
	}
	total := 0
	err = eachBatch(file, f.body.Kind, func(batch []numbered) error { total += len(batch); return nil })
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, total, nil
}

// eachBatch cuts the input into batches. A batch with a line that is no job
// object is not passed on: the error names all such lines of it, which count as
// its items, so that an input without end has an end.
func eachBatch(in io.Reader, kind string, fn func([]numbered) error) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), maxLine+1) // and its end
	var batch []numbered
	var faults []string
	size, n := 0, 0
	flush := func() error {
		if len(faults) > 0 {
			return badLines(faults)
		}
		if len(batch) == 0 {
			return nil
		}
		full := batch
		batch, size = nil, 0
		return fn(full)
	}
	for lines.Scan() {
		n++
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		if len(batch)+len(faults) == batchItems || size+len(text) > batchBytes {
			if err := flush(); err != nil {
				return err
			}
		}
		body, err := jobOfLine(text, kind)
		if err != nil {
			faults = append(faults, fmt.Sprintf("line %d: %v", n, err))
			continue
		}
		batch, size = append(batch, numbered{n, body}), size+len(body)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		faults = append(faults, fmt.Sprintf("line %d: longer than 1 MiB", n+1))
	} else if err != nil {
		return fmt.Errorf("read the jobs: %w", err)
	}
	return flush()
}

func badLines(faults []string) error {
	more := ""
	if extra := len(faults) - maxFaults; extra > 0 {
		faults, more = faults[:maxFaults], fmt.Sprintf("\nstint: and %d more", extra)
	}
	return usagef("%s%s", strings.Join(faults, "\nstint: "), more)
}

// jobOfLine is the line as a job, with the default kind if it names none. What
// the members may be is for the server to say.
func jobOfLine(text []byte, kind string) (json.RawMessage, error) {
	if text[0] != '{' || !json.Valid(text) {
		return nil, errors.New("not a JSON object")
	}
	text = bytes.Clone(text)
	for _, m := range ordered(text) {
		if m.name == "kind" {
			return text, nil
		}
	}
	if kind == "" {
		return nil, errors.New("no kind, and --kind names none")
	}
	head := []byte(`{"kind":` + strconv.Quote(kind))
	if rest := bytes.TrimSpace(text[1:]); rest[0] != '}' {
		head = append(head, ',')
	}
	return append(head, text[1:]...), nil
}

// send sends a batch, again and again under its key while the server is away.
func (e *enqueuer) send(ctx context.Context, batch []numbered) error {
	e.n++
	items := make([]json.RawMessage, len(batch))
	for i, job := range batch {
		items[i] = job.body
	}
	key := fmt.Sprintf("%s-%d", e.flags.runID, e.n)
	params := client.EnqueueJobsParams{IdempotencyKey: &key, Traceparent: traceparent()}
	until := time.Now().Add(retryFor)
	for {
		contentType, body := api.Body(map[string]any{"items": items})
		done, err := api.Answer[client.EnqueueBatchAnswer](e.api.EnqueueJobsWithBody(ctx, &params, contentType, body, e.flags.editors()...))
		if err == nil {
			e.count(batch, done.Value.Results)
			e.bar.add(len(batch))
			return nil
		}
		// Without a key a second try could double what has no key of its own.
		if !api.Retry(err) || api.Untrusted(err) || e.flags.noIdempotencyKey || time.Now().After(until) || ctx.Err() != nil {
			return byLine(err, batch)
		}
		e.bar.note("the server is away, trying again: " + err.Error())
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// byLine names the lines that a refused batch stumbled over.
func byLine(err error, batch []numbered) error {
	p, ok := errors.AsType[*api.Problem](err)
	if !ok {
		return err
	}
	var faults []string
	for _, item := range p.Errors {
		rest, isItem := strings.CutPrefix(item.Pointer, "/items/")
		index, member, _ := strings.Cut(rest, "/")
		i, err := strconv.Atoi(index)
		if !isItem || err != nil || i < 0 || i >= len(batch) {
			return p
		}
		faults = append(faults, fmt.Sprintf("line %d: /%s: %s", batch[i].line, member, item.Detail))
	}
	if len(faults) == 0 {
		return p
	}
	return badLines(faults)
}

func (e *enqueuer) count(batch []numbered, results []client.EnqueueResult) {
	for i, r := range results {
		switch {
		case r.Problem != nil:
			e.sum.Refused = append(e.sum.Refused, refused{batch[i].line, r.Problem.Code, r.Problem.Detail})
		case r.Deduplicated != nil && *r.Deduplicated:
			e.sum.Deduplicated++
		default:
			e.sum.Enqueued++
		}
	}
}

func (e *enqueuer) done() int { return e.sum.Enqueued + e.sum.Deduplicated + len(e.sum.Refused) }

func (e *enqueuer) report(cmd *cobra.Command, g *globals) error {
	if g.Output != "table" {
		if err := printJSON(cmd.OutOrStdout(), e.sum); err != nil {
			return err
		}
	} else if !g.quiet {
		fmt.Fprintf(cmd.OutOrStdout(), "%d enqueued, %d were live already, %d refused\n", e.sum.Enqueued, e.sum.Deduplicated, len(e.sum.Refused))
	}
	if len(e.sum.Refused) == 0 {
		return nil
	}
	var faults []string
	for _, r := range e.sum.Refused {
		faults = append(faults, fmt.Sprintf("line %d: %s: %s", r.Line, r.Code, r.Detail))
	}
	return &exitError{exitConflict, errors.Unwrap(badLines(faults))}
}
