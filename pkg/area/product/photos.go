package product

import (
	"cmp"
	"context"

	importer "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// PhotoWorker takes the photos that callers bring in.
type PhotoWorker struct{ Files *importer.Importer }

// Import inspects the file of a photo, and then removes the upload. A second task removes the file of a deleted photo.
func (w *PhotoWorker) Import(ctx context.Context, s *task.Run) error {
	_, r, i, err := w.read(ctx, s)
	switch {
	case err != nil:
		return task.Again(err)
	case r == nil:
		return w.Files.Removed(ctx, s)
	case r.Photos[i].State != importer.Pending:
		return task.Again(w.Files.Objects.Delete(ctx, media.UploadKey(s.Owner, s.Subject)))
	}
	file, why, err := w.Files.Look(ctx, s, r.Photos[i].Brought())
	if err != nil {
		return err
	}
	s.Also(func(ctx context.Context, tx *store.Tx) error {
		it, r, i, err := w.read(ctx, s)
		if err != nil || r == nil || r.Photos[i].State != importer.Pending {
			return cmp.Or(err, task.ErrMoved)
		}
		if file != nil {
			file.Inspection = nil // products need not keep it
		}
		r.Photos[i].Settle(tx, it.Owner, file, why)
		r.Touch(w.Files.Now())
		return Replace(tx, it, r, r.SKU)
	})
	return s.Sleep(0)
}

// read reads the product of a photo, and the photo's index. It returns nil if either was deleted.
func (w *PhotoWorker) read(ctx context.Context, s *task.Run) (it store.Item, r *StoredProduct, i int, err error) {
	var p importer.Progress
	if err = s.Decode(&p); err == nil {
		it, err = w.Files.DB.Lookup(ctx, store.IDKey(p.Of))
	}
	if err != nil || it.Kind == "" {
		return it, nil, 0, err
	}
	if r, err = Decode(&it); err != nil {
		return it, nil, 0, err
	}
	if i = r.Photo(s.Subject); i < 0 {
		return it, nil, 0, nil
	}
	return it, r, i, nil
}
