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
	After  func() // runs once, after the commit; not for a replay

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
	d := &door[I, O]{api: a, op: op, fn: fn}
	if len(hooks) > 0 {
		d.hooks = hooks[0]
	}
	register[I, O](a, op, true, func(ctx context.Context, in *I) *reply {
		rep, err := d.serve(ctx, in)
		if err != nil {
			return problemReply(explain(ctx, err), RequestID(ctx))
		}
		return rep
	})
}

// door is the one way through which requests write.
type door[I, O any] struct {
	api   *API
	op    Op
	fn    func(ctx context.Context, q model.Querier, now coltype.Time, in *I) (Answer[O], error)
	hooks Hooks[I, O]
}

// passage is one request's way through the door.
type passage[O any] struct {
	answer   Answer[O] // zero for a replay
	reply    *reply
	declined bool // by Keep
}

// errDeclined rolls back a transaction whose answer is sent but not kept.
var errDeclined = errors.New("answer is not kept")

func (d *door[I, O]) serve(ctx context.Context, in *I) (*reply, error) {
	key, err := stateOf(ctx).idempotencyKey(d.op)
	if err != nil {
		return nil, err
	}
	if key != nil && d.hooks.Before != nil {
		if rep, err := d.peek(ctx, key); rep != nil || err != nil {
			return rep, err
		}
	}
	for {
		p, err := d.attempt(ctx, key, in)
		if err != nil {
			return d.besides(ctx, key, err)
		}
		if !p.declined || d.hooks.Again == nil || !d.hooks.Again(ctx, in) {
			return d.leave(ctx, p)
		}
	}
}

// peek is the answer that the key holds already; nil if it holds none.
func (d *door[I, O]) peek(ctx context.Context, key *control.Key) (*reply, error) {
	now, err := d.api.store.Time(ctx)
	if err != nil {
		return nil, err
	}
	kept, err := control.Peek(ctx, d.api.store, now, d.api.keyTTL, *key)
	if kept == nil || err != nil {
		return nil, err
	}
	return replay(*kept), nil
}

// besides is what to answer a request that failed with err. One that could not
// have its key in time looks for a kept answer, outside a transaction: it may
// be that no other request holds the record up, but a sweep that dates it.
func (d *door[I, O]) besides(ctx context.Context, key *control.Key, err error) (*reply, error) {
	f, ok := errors.AsType[*fault.Fault](err)
	if key == nil || !ok || f.Code != fault.IdempotencyInFlight().Code {
		return nil, err
	}
	if rep, peekErr := d.peek(ctx, key); rep != nil && peekErr == nil {
		return rep, nil
	}
	return nil, err
}

// attempt is one transaction, with what comes before it.
func (d *door[I, O]) attempt(ctx context.Context, key *control.Key, in *I) (*passage[O], error) {
	if d.hooks.Before != nil {
		if err := d.hooks.Before(ctx, in); err != nil {
			return nil, err
		}
	}
	var p *passage[O]
	err := d.api.store.Tx(ctx, func(q model.Querier) error {
		p = &passage[O]{}
		if key == nil {
			return d.run(ctx, q, in, p)
		}
		return d.runKeyed(ctx, q, *key, in, p)
	})
	if err != nil && !errors.Is(err, errDeclined) {
		return nil, err
	}
	return p, nil
}

func (d *door[I, O]) run(ctx context.Context, q model.Querier, in *I, p *passage[O]) error {
	now, err := d.api.store.TxTime()
	if err != nil {
		return err
	}
	if p.answer, err = d.fn(ctx, q, now, in); err != nil {
		return err
	}
	p.declined = d.hooks.Keep != nil && !d.hooks.Keep(&p.answer.Body)
	p.reply, err = d.encode(p.answer)
	return err
}

func (d *door[I, O]) runKeyed(ctx context.Context, q model.Querier, key control.Key, in *I, p *passage[O]) error {
	now, err := d.api.store.TxTime()
	if err != nil {
		return err
	}
	kept, err := control.Reserve(ctx, q, now, d.api.keyTTL, key)
	if err != nil {
		return err
	}
	if kept != nil {
		p.reply = replay(*kept)
		return nil
	}
	err = store.Savepoint(ctx, q, func() error { return d.run(ctx, q, in, p) })
	var f *fault.Fault
	switch {
	case errors.As(err, &f) && f.Storable():
		p.reply = problemReply(f, RequestID(ctx))
	case err != nil:
		return err
	case p.declined:
		return errDeclined
	}
	return control.Keep(ctx, q, key, control.Kept{Status: p.reply.status, Body: string(p.reply.body), ETag: p.reply.header.Get("ETag")})
}

func (d *door[I, O]) encode(ans Answer[O]) (*reply, error) {
	status := ans.Status
	if status == 0 {
		status = d.op.status()
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

// leave is what happens after the commit. The answer is bytes already: they were
// made inside the transaction, which keeps them under a key, and which is rolled
// back when they cannot be made. Only an answer that Check changed is encoded again.
func (d *door[I, O]) leave(ctx context.Context, p *passage[O]) (*reply, error) {
	if p.reply.fault != nil {
		return p.reply, nil
	}
	if p.answer.After != nil {
		p.answer.After()
	}
	if p.answer.Check == nil {
		return p.reply, nil
	}
	now, err := d.api.store.Time(ctx)
	if err != nil {
		return nil, err
	}
	changed, err := p.answer.Check(now, &p.answer.Body)
	if err != nil || !changed {
		return p.reply, err
	}
	return d.encode(p.answer)
}

// replay is the answer that a key holds, byte for byte, with its ETag.
func replay(kept control.Kept) *reply {
	rep := &reply{status: kept.Status, body: []byte(kept.Body), header: http.Header{
		"Content-Type":        {jsonType},
		"Idempotent-Replayed": {"true"},
	}}
	if kept.Status >= 400 {
		rep.header.Set("Content-Type", problemType)
	}
	if kept.ETag != "" {
		rep.header.Set("ETag", kept.ETag)
	}
	return rep
}
