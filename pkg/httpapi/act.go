package httpapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"reflect"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
)

// Action is an operation with an external effect that its answer depends on: it calls a model, or checks a token. I is
// its input, P the prepared parameters of the effect, which are stored as JSON, R the result of the effect, and T the
// answer.
//
// Prepare, Settle and Release write only by the transaction and may run several times. If they return an error, they
// must add nothing to it.
type Action[I, P, R, T any] struct {
	// Within bounds the duration of the effect.
	Within time.Duration
	// Queue is the queue of a worker that has Claims among its handlers.
	Queue topology.Queue
	// Prepare checks the input. It may add writes that must precede the effect, such as a reservation of money.
	Prepare func(ctx context.Context, tx *store.Tx, in *I) (P, error)
	// Do performs the effect. It runs at most once for an Idempotency-Key.
	Do func(ctx context.Context, p P) (R, error)
	// Settle adds the writes that follow from the effect, and returns the answer.
	Settle func(ctx context.Context, tx *store.Tx, p P, result R) (T, error)
	// Release undoes the writes of Prepare if the effect has failed. It may be nil.
	Release func(ctx context.Context, tx *store.Tx, p P, cause error) error
	// Find finds the result of the effect of a call that died. An error of package errs means that the effect has
	// failed. Without Find such a call has failed with timeout.
	Find func(ctx context.Context, p P) (R, error)
}

// errInterrupted is the failure of a call that died before it was answered.
var errInterrupted = errs.New(errs.Timeout, "The request took too long or was interrupted, and has failed. Repeat it "+
	"with a new Idempotency-Key.")

// errUnsettled answers a call whose claim its task will end.
var errUnsettled = errs.New(errs.Timeout, "The request took too long. Repeat it with the same Idempotency-Key to get "+
	"its result.")

// Act registers an operation with an external effect. It claims the Idempotency-Key, performs the effect, and commits
// the answer together with the writes that follow from the effect, on condition that the claim is still its own.
// Failures of the effect are answers, too, which are returned to a repeat. If the call dies before the commit, the task
// that was written with the claim ends it. Until then a repeat is refused with idempotency_in_progress.
func Act[I, P, R, T any](r *Router, op Op, a Action[I, P, R, T]) {
	register(r, op, reflect.TypeFor[Envelope[T]](),
		func(ctx context.Context, in *I) (*answer, error) { return a.serve(ctx, r, op, in) })
	if r.actions == nil {
		r.actions = map[string]ender{}
	}
	r.actions[op.ID] = func(ctx context.Context, h held, find bool) (func(context.Context, *store.Tx,
		held) error, error) {
		return a.resolve(ctx, r, op, h, find)
	}
}

func (a Action[I, P, R, T]) serve(ctx context.Context, r *Router, op Op, in *I) (*answer, error) {
	// Without a key from the caller, the claim only serves the task.
	key := cmp.Or(callFrom(ctx).idempotencyKey, rand.Text())
	began := r.now()
	var p P
	var h held
	first, err := r.once(ctx, key, func(tx *store.Tx, token string) (err error) {
		if p, err = a.Prepare(ctx, tx, in); err != nil {
			return err
		}
		h, err = r.claim(ctx, tx, op, a.Queue, key, token, began.Add(a.Within+settleTime), p)
		return err
	})
	if err != nil || first != nil {
		return first, err
	}
	result, failure := a.do(ctx, p, began, r.now)
	if failure == errUnsettled {
		return nil, failure
	}
	for again := range maxRuns {
		if err = backoff.Wait(ctx, again, 5*time.Millisecond, 640*time.Millisecond); err != nil {
			break
		}
		tx := &store.Tx{Origin: h.record.Claim.RequestID}
		tx.Until(h.record.Claim.Until)
		var out *answer
		if out, err = a.end(ctx, r, op, tx, h, p, result, failure); err == nil {
			err = r.db.Commit(ctx, tx)
		}
		if err == nil {
			return out, nil
		}
		// The commit may have succeeded, or the task has ended the claim.
		if first, failed := r.recall(ctx, key, h.record.Token); failed == nil && first != nil {
			return first, nil
		}
	}
	return nil, errs.Wrap(err, errUnsettled.Code, "%s", errUnsettled.Message)
}

// do performs the effect. It returns errUnsettled if the outcome is unknown but can be found.
func (a Action[I, P, R, T]) do(ctx context.Context, p P, began time.Time, now func() time.Time) (result R, err error) {
	within := a.Within
	if deadline, ok := ctx.Deadline(); ok {
		within = min(within, time.Until(deadline)-commitTime)
	}
	// A function that was frozen since the claim must not begin: the task may have ended the claim. The monotonic clock
	// stops while it is frozen.
	if late := now().Round(0).Sub(began.Round(0)) >= a.Within; late || within <= 0 {
		return result, errInterrupted
	}
	effect, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	result, err = a.Do(effect, p)
	switch {
	case err == nil || effect.Err() == nil:
		return result, err
	case a.Find != nil:
		return result, errUnsettled
	default:
		return result, errInterrupted
	}
}

// end adds the end of a claim: the writes that follow from the effect, and the record of the answer.
func (a Action[I, P, R, T]) end(ctx context.Context, r *Router, op Op, tx *store.Tx, h held, p P, result R,
	failure error) (out *answer, err error) {
	if failure == nil {
		data, err := a.Settle(ctx, tx, p, result)
		switch {
		case err == nil:
			if out, err = r.answer(ctx, op, data); err != nil {
				return nil, err
			}
		case isFinal(err):
			failure = err
		default:
			return nil, err
		}
	}
	if failure != nil {
		if a.Release != nil {
			if err := a.Release(ctx, tx, p, failure); err != nil {
				return nil, err
			}
		}
		if out, err = callFrom(ctx).failure(failure); err != nil {
			return nil, err
		}
	}
	if err := remember(tx, &h.item, h.record, [][]byte{h.key}, out); err != nil {
		return nil, err
	}
	tx.Replace(h.item)
	return out, nil
}

// isFinal reports whether an error answers the call, because a retry does not help.
func isFinal(err error) bool {
	switch errs.CodeOf(err) {
	case errs.Internal, errs.ProviderUnavailable, errs.RateLimited, errs.Timeout:
		return false
	}
	return true
}

// failure renders an error as an answer.
func (c *call) failure(err error) (*answer, error) {
	r := c.fail(err)
	a, err := encode(r.status, "", r)
	if err != nil {
		return nil, err
	}
	a.code = r.Err.Code
	return a, nil
}

// resolve finds how a claim of a dead call ends, and returns a function that ends it.
func (a Action[I, P, R, T]) resolve(ctx context.Context, r *Router, op Op, h held,
	find bool) (func(context.Context, *store.Tx, held) error, error) {
	var p P
	if err := json.Unmarshal(h.prepared, &p); err != nil {
		return nil, err
	}
	var result R
	var failure error = errInterrupted
	if a.Find != nil && find {
		if result, failure = a.Find(ctx, p); failure != nil && !isFinal(failure) {
			return nil, failure
		}
	}
	return func(ctx context.Context, tx *store.Tx, h held) error {
		_, err := a.end(ctx, r, op, tx, h, p, result, failure)
		return err
	}, nil
}

// withCall restores the context of the call that made a claim.
func (h held) withCall(ctx context.Context) context.Context {
	c := &call{Gateway: Gateway{RequestID: h.record.Claim.RequestID}, operation: h.record.Claim.Operation}
	p := &auth.Principal{Owner: h.item.Owner}
	return auth.NewContext(context.WithValue(ctx, callKey{}, c), p)
}
