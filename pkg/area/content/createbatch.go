package content

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/quote"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

// batchOp is the operation that creates several items.
const batchOp = "createContentItems"

// acceptance is a batch on its way to be accepted or rehearsed.
type acceptance struct {
	*Service
	p      *auth.Principal
	now    time.Time
	bodies []createBody
	refs   references
	terms  *quote.Terms
	// records are those of the bodies. A body that is rehearsed and refused has none.
	records []*item.Record
}

func (s *Service) createBatch(ctx context.Context, tx *store.Tx, in *batchInput) (out batch, err error) {
	a := &acceptance{Service: s, p: auth.FromContext(ctx), now: s.now(), bodies: in.Body.Items}
	if a.terms, err = quote.Open(ctx, s.db, a.now, batchOp, in.Body.Given); err != nil {
		return out, err
	}
	if a.refs, err = s.open(ctx, a.p, a.bodies...); err != nil {
		return out, err
	}
	if err := a.terms.Stamp(a.refs.stamp(a.bodies)); err != nil {
		return out, err
	}
	if err := a.check(ctx); err != nil {
		return out, err
	}
	filled := a.terms.Tx(tx)
	if out, err = a.enter(ctx, filled); err != nil {
		return out, err
	}
	if a.terms.Rehearsed() {
		return a.rehearse(ctx, tx, filled, out)
	}
	var reserved int64
	var ids []string
	for _, r := range a.records {
		reserved += r.Credits
		ids = append(ids, r.ID)
	}
	return out, a.terms.Use(tx, a.refs.owner, reserved, ids...)
}

// check accepts the bodies, but for their money, and sets their records.
func (a *acceptance) check(ctx context.Context) error {
	var bad batchErrors
	var accepted []*item.Record
	for i, b := range a.bodies {
		if a.terms.Rehearsed() {
			a.refs.met = func(err error) error { return a.terms.MeetAt(i, err) }
		}
		r, err := a.accepted(ctx, a.p, b, a.refs, a.p.Mode, a.now)
		if err != nil {
			// An item of no factory cannot be shown in a rehearsal.
			if a.terms.Rehearsed() && id.Valid(id.Factory, b.FactoryID) {
				err = a.terms.MeetAt(i, err)
			} else {
				err = bad.add(i, err)
			}
			if err != nil {
				return err
			}
			a.records = append(a.records, nil)
			continue
		}
		bound, err := a.terms.Bound(i, item.AttemptAt(r).Made())
		if err != nil {
			return err
		}
		item.AttemptAt(r).Bound(bound)
		a.records, accepted = append(a.records, r), append(accepted, r)
	}
	if err := bad.err(); err != nil {
		return err
	}
	if err := a.terms.Meet(a.moderator.checkAll(ctx, a.p.Mode, a.bodies)); err != nil {
		return err
	}
	return a.terms.Meet(rehearsedError(a.p, accepted...))
}

// enter adds the items to the transaction, with their work.
func (a *acceptance) enter(ctx context.Context, tx *store.Tx) (out batch, err error) {
	var works []generate.Order
	var accepted []*item.Record
	for _, r := range a.records {
		if r == nil {
			continue
		}
		if accepted = append(accepted, r); !r.Finished() {
			order := item.AttemptAt(r).Order(a.refs.owner)
			r.Usual = order.Usual()
			works = append(works, order)
		}
	}
	var ticket generate.Ticket
	if len(works) > 0 {
		ticket, err = generate.AcceptBatch(tx, a.now, works, ledger.PayerOf(a.now, a.p), a.refs.balance)
		if err := a.terms.Meet(err); err != nil {
			return out, err
		}
	}
	if err := errors.Join(a.refs.media.Hold(tx, a.now, held(accepted...)), a.refs.keepDraws(tx)); err != nil {
		return out, err
	}
	for _, r := range accepted {
		claim(tx, a.now, a.refs.owner, r)
		if r.Finished() {
			if err := item.AttemptAt(r).Finish(tx, a.now, a.refs.owner); err != nil {
				return out, err
			}
		} else {
			r.Ticket = ticket
		}
		if err := r.Create(tx, a.refs.owner); err != nil {
			return out, err
		}
		v, err := a.view(ctx, r)
		if err != nil {
			return out, err
		}
		out = append(out, v)
	}
	if n := tx.Len(); n > maxWrites {
		return out, a.terms.Meet(errs.Invalid("/items", "are too many for one call: they are created all or none, in "+
			"one transaction of at most %d writes, and those with source provided or next_slot take several. Send at "+
			"most %d such items in a call", maxWrites, len(accepted)*maxWrites/n))
	}
	return out, nil
}
