package metered

import (
	"context"
	"encoding/json"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// posted schedules an item, and returns the id of its publication, as if its platform had taken it.
func (w *World) posted(ctx context.Context) (publicationID string, err error) {
	itemID, err := w.Examples()["publishContentItem"].ID(ctx)
	if err != nil {
		return "", err
	}
	a, err := w.Call(ctx, Request{Operation: "scheduleContentItem", ID: itemID,
		Body: w.Examples()["scheduleContentItem"].Body})
	if err != nil {
		return "", err
	}
	var made struct{ Publications []struct{ ID string } }
	if err := json.Unmarshal(a.Data, &made); err != nil {
		return "", err
	}
	it, err := w.State.Get(ctx, store.IDKey(itemID))
	if err != nil {
		return "", err
	}
	r, err := item.Decode(&it)
	if err != nil {
		return "", err
	}
	at, post := resource.Instant(w.Now()), "42"
	for i := range r.Publications {
		pub := &r.Publications[i]
		pub.State, pub.PublishedAt, pub.PlatformPostID = item.PublicationPublished, &at, &post
		pub.Content = &item.Preview{Platform: pub.Platform, Hashtags: []string{}, MediaIDs: []string{},
			Counts: []item.Count{}}
	}
	tx := &store.Tx{}
	if err := it.Encode(r); err != nil {
		return "", err
	}
	r.Index(&it)
	tx.Replace(it)
	return made.Publications[0].ID, w.State.Commit(ctx, tx)
}
