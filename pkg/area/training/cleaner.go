package training

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Cleaner ends the training of a factory that was deleted, and removes its model.
type Cleaner struct {
	DB  *store.DB
	Now func() time.Time
}

// Clean cancels the factory's training, if it runs, and releases its money. Its trained model leaves the catalog, and
// is removed from the provider. Called again it finds nothing; more is always false.
func (c Cleaner) Clean(ctx context.Context, o tenant.Owner, factoryID string) (more bool, err error) {
	items, err := c.DB.GetAll(ctx, Key(factoryID), store.IDKey(modelID(factoryID)))
	if err != nil {
		return false, err
	}
	tx := &store.Tx{}
	if training := items[0]; training.Kind == ItemKind && training.Owner == o {
		if err := c.cancel(ctx, tx, training); err != nil {
			return false, err
		}
	}
	if model := items[1]; model.Kind == catalog.TrainedKind && model.Owner == o {
		var trained catalog.Trained
		if err := model.Decode(&trained); err != nil {
			return false, err
		}
		tx.Delete(model)
		if err := remove(tx, c.Now(), o, trained.TrainingID, 0); err != nil {
			return false, err
		}
	}
	return false, c.DB.Commit(ctx, tx)
}

// cancel adds to the transaction that a training ends early, if it runs.
func (c Cleaner) cancel(ctx context.Context, tx *store.Tx, it store.Item) error {
	r, err := Decode(&it)
	if err != nil || !r.Runs() {
		return err
	}
	p, err := c.stop(ctx, tx, r)
	if err != nil {
		return err
	}
	w := Worker{DB: c.DB, Now: c.Now}
	return w.cancel(tx, it, r, p)
}

// stop adds to the transaction that the task of a training is canceled.
func (c Cleaner) stop(ctx context.Context, tx *store.Tx, r *Record) (p run, err error) {
	it, err := c.DB.Lookup(ctx, store.IDKey(task.ID(Train, r.ID, 1)))
	if err != nil || it.PK == "" {
		return p, err
	}
	var t task.Step
	if err := it.Decode(&t.Task); err != nil {
		return p, err
	}
	if err := t.Decode(&p); err != nil {
		return p, err
	}
	return p, task.Cancel(tx, it)
}

// Discard adds to the transaction that a training of the sandbox is deleted, and the end of its work.
func (c Cleaner) Discard(ctx context.Context, tx *store.Tx, it store.Item) error {
	tx.Delete(it)
	r, err := Decode(&it)
	if err != nil || !r.Runs() {
		return err
	}
	_, err = c.stop(ctx, tx, r)
	return err
}
