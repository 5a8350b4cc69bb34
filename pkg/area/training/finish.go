package training

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// replacedFor is the time for which a replaced model stays at the provider: work that was
// accepted before may still call it.
const replacedFor = time.Hour

// finish ends a training well: the factory has its model, the catalog lists it, and the
// trained tokens are charged, in one transaction.
func (w handler) finish(s *task.Step, p run) (o task.Outcome, err error) {
	o.Done = true
	o.Join = func(ctx context.Context, tx *store.Tx) error {
		it, r, err := w.waiting(ctx, s, p.TrainingID)
		if err != nil {
			return err
		}
		model := catalog.Trained{ID: modelID(r.FactoryID), FactoryID: r.FactoryID, BaseModel: r.BaseModel,
			TrainingID: r.ID, Endpoint: p.Endpoint}
		if err := w.give(ctx, tx, s.Owner, model); err != nil {
			return err
		}
		cost := r.Hold.Credits
		if m, ok := catalog.Find(r.BaseModel); ok && m.Training != nil {
			cost = min(cost, m.Training.Cost(p.Tokens))
		}
		if err := ledger.Release(tx, w.Now(), s.Owner.Account, r.Hold, cost); err != nil {
			return err
		}
		r.State, r.Progress, r.Samples, r.ModelID, r.CostCredits, r.Hold = Completed, 100, p.Samples, &model.ID, cost,
			ledger.Hold{}
		return w.end(tx, it, r, event.TrainingCompleted)
	}
	return o, nil
}

// give adds to the transaction that a factory has a model. The one that it had before is
// removed from the provider later.
func (w *Worker) give(ctx context.Context, tx *store.Tx, o tenant.Owner, model catalog.Trained) error {
	items, err := w.DB.GetAll(ctx, factoryrecord.Key(model.FactoryID), store.IDKey(model.ID))
	if err != nil {
		return err
	}
	factory, was := items[0], items[1]
	if !factoryrecord.Usable(factory, o) {
		return task.ErrMoved
	}
	raw, err := json.Marshal(model)
	if err != nil {
		return err
	}
	factory.Attributes = maps.Clone(factory.Attributes)
	if factory.Attributes == nil {
		factory.Attributes = map[string]string{}
	}
	factory.Attributes[catalog.TrainedAttribute] = string(raw)
	tx.Replace(factory)

	it, err := store.NewItem(catalog.TrainedKind, o, model.ID, model)
	if err != nil {
		return err
	}
	if it.Version = was.Version; was.Version == 0 {
		tx.Create(it, nil)
		return nil
	}
	tx.Replace(it)
	var replaced catalog.Trained
	if err := was.Decode(&replaced); err != nil {
		return err
	}
	return remove(tx, w.Now(), o, replaced.TrainingID, replacedFor)
}

// end adds to the transaction that a training has ended, with its event.
func (w *Worker) end(tx *store.Tx, it store.Item, r *Record, t event.Type) error {
	r.Touch(w.Now())
	if err := r.write(&it); err != nil {
		return err
	}
	tx.Replace(it)
	e, err := event.New(r.UpdatedAt.Time, it.Owner, t, r.View(), nil)
	if err == nil {
		tx.Create(e, nil)
	}
	return err
}

// Fail ends a training badly, and releases its money. The amount that the provider was paid counts as lost.
func (w handler) Fail(_ context.Context, s *task.Step, cause error) (o task.Outcome, err error) {
	var p run
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	o.Join = func(ctx context.Context, tx *store.Tx) error {
		it, r, err := w.read(ctx, s, p.TrainingID)
		if errors.Is(err, task.ErrOrphaned) {
			return task.ErrMoved
		}
		if err != nil && !errors.Is(err, errNoFactory) {
			return err
		}
		if err := w.refund(tx, s.Owner, r, p.Model != "" || p.Begun && errors.Is(cause, task.ErrDeadline)); err != nil {
			return err
		}
		f := failureOf(cause)
		r.State, r.Failure = Failed, &f
		if err := remove(tx, w.Now(), s.Owner, r.ID, 0); err != nil {
			return err
		}
		return w.end(tx, it, r, event.TrainingFailed)
	}
	return o, nil
}

// abandon is the outcome that cancels a training whose factory was deleted, for one that
// was accepted at the same moment.
func (w handler) abandon(s *task.Step, p run) task.Outcome {
	return task.Outcome{Done: true, Join: func(ctx context.Context, tx *store.Tx) error {
		it, r, err := w.read(ctx, s, p.TrainingID)
		if !errors.Is(err, errNoFactory) {
			return cmp.Or(err, task.ErrMoved)
		}
		return w.cancel(tx, it, r, p)
	}}
}

// cancel adds to the transaction that a training whose task ends is canceled.
func (w *Worker) cancel(tx *store.Tx, it store.Item, r *Record, p run) error {
	if err := w.refund(tx, it.Owner, r, p.Begun); err != nil {
		return err
	}
	r.State = Canceled
	r.Touch(w.Now())
	if err := r.write(&it); err != nil {
		return err
	}
	tx.Replace(it)
	return remove(tx, w.Now(), it.Owner, r.ID, 0)
}

// refund releases the money of a training. Paid reports that the provider was paid.
func (w *Worker) refund(tx *store.Tx, o tenant.Owner, r *Record, paid bool) error {
	if paid {
		ledger.Lose(tx, w.Now(), o.Account, r.Hold.Credits)
	}
	hold := r.Hold
	r.Hold = ledger.Hold{}
	return ledger.Release(tx, w.Now(), o.Account, hold, 0)
}

// removal is the payload of a Remove task.
type removal struct {
	// Gone is when nothing was left for the first time.
	Gone time.Time `json:"gone,omitzero"`
}

const (
	// removing is the wait if something is left.
	removing = 30 * time.Second
	// settled is the time after which the provider is asked once more, although nothing was left: a step that was under
	// way when the training was canceled may have begun something.
	settled = 5 * time.Minute
)

// remove adds to the transaction the task that removes the files and models of a training
// at the provider. In the sandbox there are none.
func remove(tx *store.Tx, now time.Time, o tenant.Owner, trainingID string, after time.Duration) error {
	if o.Mode != tenant.Live {
		return nil
	}
	return task.Create(tx, now, task.Task{
		Message: task.Message{ID: task.ID(Remove, trainingID, 1), Kind: Remove, Queue: topology.Train,
			Subject: trainingID, Owner: o}, DueAt: now.Add(after),
	}, removal{})
}

// remover is the handler of Remove. It tries without end: deleted data of a customer must not stay.
type remover struct{ *Worker }

// Step removes the remains of a training. A second call finds nothing.
func (w remover) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	var p removal
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	if w.Trainer == nil {
		o.Done = true // nothing was ever trained here
		return o, nil
	}
	gone, err := w.Trainer.Remove(ctx, nameOf(s.Subject))
	if err == nil {
		err = w.Objects.Delete(ctx, samplesOf(s.Subject))
	}
	switch {
	case err != nil:
		return o, task.Again(fmt.Errorf("job: remove %s: %w", s.Subject, err))
	case !gone:
		p.Gone, o.Wait = time.Time{}, removing
	case p.Gone.IsZero():
		p.Gone, o.Wait = w.Now(), settled
	default:
		o.Done = true
	}
	o.Payload = p
	return o, nil
}
