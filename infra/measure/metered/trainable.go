package metered

import (
	"context"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/store"
)

// trainable creates a factory that has enough content for a training: copies of a generated item, which only the
// factory lists.
func (w *World) trainable(ctx context.Context) (string, error) {
	factory, err := w.make(ctx, "createFactory")
	if err != nil {
		return "", err
	}
	it, err := w.State.Get(ctx, store.IDKey(w.item))
	if err != nil {
		return "", err
	}
	r, err := item.Decode(&it)
	if err != nil {
		return "", err
	}
	// Random ids change the size of a compressed document by some bytes. With this text, 50 documents are far from a
	// read unit more or less, so that each run takes the same number.
	r.Item.Prompt += " x7Kq2Zp9Lm4Tn8Wv3Rb6Yc1Hd5Gf0JsAeUiQoPzXkVlB"
	tx := &store.Tx{}
	for range training.MinSamples {
		r.Item.ID, r.Item.FactoryID = id.New(id.ContentItem, w.Now()), factory
		copied, err := r.Entry(it.Owner)
		if err != nil {
			return "", err
		}
		copied.ListKey = store.Key{}
		tx.Create(copied, nil)
	}
	return factory, w.State.Commit(ctx, tx)
}
