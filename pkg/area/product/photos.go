package product

import (
	"context"
	"errors"

	importer "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// PhotoWorker is the handler of the tasks of photos.
type PhotoWorker struct{ Files *importer.Importer }

var _ task.Handler = (*PhotoWorker)(nil)

// Step takes the next step of a photo: it inspects the file, then removes the upload. A
// second task removes the file of a deleted photo.
func (w *PhotoWorker) Step(ctx context.Context, s *task.Step) (task.Outcome, error) {
	return importer.Endless(w.step(ctx, s))
}

func (w *PhotoWorker) step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	_, r, i, err := w.read(ctx, s)
	switch {
	case errors.Is(err, task.ErrMoved):
		return w.Files.Removed(ctx, s)
	case err != nil:
		return o, err
	case r.Photos[i].State == importer.Pending:
		return w.Files.Look(ctx, s, r.Photos[i].Brought(),
			func(file *media.File, why *importer.Reason) task.Outcome { return w.settle(s, file, why) })
	}
	o.Done = true
	return o, w.Files.Objects.Delete(ctx, media.UploadKey(s.Owner, s.Subject))
}

// read reads the product of a photo, and the photo's index. It returns task.ErrMoved if either was deleted.
func (w *PhotoWorker) read(ctx context.Context, s *task.Step) (it store.Item, r *StoredProduct, i int, err error) {
	var p importer.Progress
	if err := s.Decode(&p); err != nil {
		return it, nil, 0, err
	}
	it, err = w.Files.DB.Get(ctx, store.IDKey(p.Of))
	if errors.Is(err, store.ErrNotFound) {
		err = task.ErrMoved
	}
	if err != nil {
		return it, nil, 0, err
	}
	if r, err = Decode(&it); err != nil {
		return it, nil, 0, err
	}
	if i = r.Photo(s.Subject); i < 0 {
		err = task.ErrMoved
	}
	return it, r, i, err
}

// settle is the outcome that makes a photo ready or rejects it.
func (w *PhotoWorker) settle(s *task.Step, file *media.File, why *importer.Reason) task.Outcome {
	return task.Outcome{Join: func(ctx context.Context, tx *store.Tx) error {
		it, r, i, err := w.read(ctx, s)
		if err != nil {
			return err
		}
		if r.Photos[i].State != importer.Pending {
			return task.ErrMoved
		}
		if file != nil {
			file.Inspection = nil // products need not keep it
		}
		r.Photos[i].Settle(tx, it.Owner, file, why)
		r.Touch(w.Files.Now())
		return Replace(tx, it, r, r.SKU)
	}}
}

// Fail rejects a photo whose task cannot go on: only a defect of ours leads to it.
func (w *PhotoWorker) Fail(_ context.Context, s *task.Step, _ error) (task.Outcome, error) {
	return w.settle(s, nil, importer.OurFault()), nil
}
