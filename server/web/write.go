package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

// Answer is the outcome of an operation that writes.
type Answer[O any] struct {
	Status int // 0 is the route's
	Body   O
	ETag   string // of the resource after the change
	After  func() // runs once, when the transaction has ended: committed, or rolled back if Keep declined the answer; not for a replay

	// Check runs after the commit and before the answer is sent, with the clock
	// read again. It may take out of the body what no longer holds, and reports
	// whether it did, or refuse with a fault; the kept answer stays as it was
	// committed.
	Check func(now coltype.Time, body *O) (changed bool, err error)
}

// Hooks are what some routes need around their transaction.
type Hooks[I, O any] struct {
	// Before runs before each transaction, holding no connection: a claim waits
	// here. Its error is the answer.
	Before func(ctx context.Context, in *I) error
	// Keep reports whether the answer is kept under the Idempotency-Key. One
	// that is not must have changed nothing: with a key its transaction is
	// rolled back. nil keeps every answer.
	Keep func(body *O) bool
	// Again reports whether, after an answer that Keep declined, Before and the
	// transaction run once more.
	Again func(ctx context.Context, in *I) bool
}

// Write adds a route that changes something. The request is one transaction:
// it takes the Idempotency-Key, runs fn behind a savepoint, keeps the answer,
// and commits; only then is the answer sent. A request without the header is fn
// and the commit. fn may run several times, see store.Tx.
//
// Under a key, a 2xx is kept, and so are the faults 404, 409 and 412, without
// what fn wrote. Any other error rolls everything back, the key included.
func Write[I, O any](a *API, op Op, fn func(ctx context.Context, q model.Querier, now coltype.Time, in *I) (Answer[O], error), hooks ...Hooks[I, O]) {
	r := &writeRoute[I, O]{api: a, op: op, fn: fn}
	if len(hooks) > 0 {
		r.hooks = hooks[0]
	}
	register[I, O](a, op, true, func(ctx context.Context, in *I) *reply {
		rep, err := r.serve(ctx, in)
		if err != nil {
			return problemReply(explain(ctx, err), RequestID(ctx))
		}
		return rep
	})
}

// writeRoute serves a route that writes.
type writeRoute[I, O any] struct {
	api   *API
	op    Op
	fn    func(ctx context.Context, q model.Querier, now coltype.Time, in *I) (Answer[O], error)
	hooks Hooks[I, O]
}

// outcome is what came of a transaction.
type outcome[O any] struct {
	answer   Answer[O] // zero for a replay
	reply    *reply
	declined bool // by Keep
}

// errDeclined rolls back a transaction whose answer is sent but not kept.
var errDeclined = errors.New("answer is not kept")

func (r *writeRoute[I, O]) serve(ctx context.Context, in *I) (*reply, error) {
	key, err := stateOf(ctx).idempotencyKey(r.op)
	if err != nil {
		return nil, err
	}
	if key != nil && r.hooks.Before != nil {
		if rep, err := r.peek(ctx, key); rep != nil || err != nil {
			return rep, err
		}
	}
	for {
		out, err := r.attempt(ctx, key, in)
		if err != nil {
			return r.failed(ctx, key, err)
		}
		if !out.declined || r.hooks.Again == nil || !r.hooks.Again(ctx, in) {
			return r.finish(ctx, out)
		}
	}
}

// peek is the answer that the key holds already; nil if it holds none.
func (r *writeRoute[I, O]) peek(ctx context.Context, key *control.Key) (*reply, error) {
	now, err := r.api.store.Time(ctx)
	if err != nil {
		return nil, err
	}
	kept, err := control.Peek(ctx, r.api.store, now, r.api.keyTTL, *key)
	if kept == nil || err != nil {
		return nil, err
	}
	return replay(*kept), nil
}

// failed is what to answer a request that failed with err. One that could not
// have its key in time looks for a kept answer, outside a transaction: it may
// be that no other request holds the record up, but a sweep that dates it.
func (r *writeRoute[I, O]) failed(ctx context.Context, key *control.Key, err error) (*reply, error) {
	f, ok := errors.AsType[*fault.Fault](err)
	if key == nil || !ok || f.Code != fault.IdempotencyInFlight().Code {
		return nil, err
	}
	if rep, peekErr := r.peek(ctx, key); rep != nil && peekErr == nil {
		return rep, nil
	}
	return nil, err
}

// attempt is one transaction, with what comes before it.
func (r *writeRoute[I, O]) attempt(ctx context.Context, key *control.Key, in *I) (*outcome[O], error) {
	if r.hooks.Before != nil {
		if err := r.hooks.Before(ctx, in); err != nil {
			return nil, err
		}
	}
	var out *outcome[O]
	err := r.api.store.Tx(ctx, func(q model.Querier) error {
		out = &outcome[O]{}
		if key == nil {
			return r.run(ctx, q, in, out)
		}
		return r.runKeyed(ctx, q, *key, in, out)
	})
	if err != nil && !errors.Is(err, errDeclined) {
		return nil, err
	}
	return out, nil
}

func (r *writeRoute[I, O]) run(ctx context.Context, q model.Querier, in *I, out *outcome[O]) error {
	now, err := r.api.store.TxTime()
	if err != nil {
		return err
	}
	if out.answer, err = r.fn(ctx, q, now, in); err != nil {
		return err
	}
	out.declined = r.hooks.Keep != nil && !r.hooks.Keep(&out.answer.Body)
	out.reply, err = r.encode(out.answer)
	return err
}

func (r *writeRoute[I, O]) runKeyed(ctx context.Context, q model.Querier, key control.Key, in *I, out *outcome[O]) error {
	now, err := r.api.store.TxTime()
	if err != nil {
		return err
	}
	kept, err := control.Reserve(ctx, q, now, r.api.keyTTL, key)
	if err != nil {
		return err
	}
	if kept != nil {
		out.reply = replay(*kept)
		return nil
	}
	err = store.Savepoint(ctx, q, func() error { return r.run(ctx, q, in, out) })
	var f *fault.Fault
	switch {
	case errors.As(err, &f) && f.Storable():
		out.reply = problemReply(f, RequestID(ctx))
	case err != nil:
		return err
	case out.declined:
		return errDeclined
	}
	return control.Keep(ctx, q, key, control.Kept{Status: out.reply.status, Body: string(out.reply.body), ETag: out.reply.header.Get("ETag")})
}

func (r *writeRoute[I, O]) encode(ans Answer[O]) (*reply, error) {
	status := ans.Status
	if status == 0 {
		status = r.op.status()
	}
	if status < 200 || status > 299 {
		return nil, fmt.Errorf("answer with status %d: only a fault is no success", status)
	}
	rep, err := jsonReply(status, &ans.Body)
	if err == nil && ans.ETag != "" {
		rep.header.Set("ETag", ans.ETag)
	}
	return rep, err
}

// finish is what happens after the commit. The answer is bytes already: they were
// made inside the transaction, which keeps them under a key, and which is rolled
// back when they cannot be made. Only an answer that Check changed is encoded again.
func (r *writeRoute[I, O]) finish(ctx context.Context, out *outcome[O]) (*reply, error) {
	if out.reply.fault != nil {
		return out.reply, nil
	}
	if out.answer.After != nil {
		out.answer.After()
	}
	if out.answer.Check == nil {
		return out.reply, nil
	}
	now, err := r.api.store.Time(ctx)
	if err != nil {
		return nil, err
	}
	changed, err := out.answer.Check(now, &out.answer.Body)
	if err != nil || !changed {
		return out.reply, err
	}
	return r.encode(out.answer)
}

// replay is the answer that a key holds, byte for byte, with its ETag.
func replay(kept control.Kept) *reply {
	rep := &reply{status: kept.Status, body: []byte(kept.Body), header: http.Header{
		"Content-Type": {jsonType},
		replayedHeader: {"true"},
	}}
	if kept.Status >= 400 {
		rep.header.Set("Content-Type", problemType)
	}
	if kept.ETag != "" {
		rep.header.Set("ETag", kept.ETag)
	}
	return rep
}

// replayedHeader tells that an answer is that of an earlier request.
const replayedHeader = "Idempotent-Replayed"
