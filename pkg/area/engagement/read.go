package engagement

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

const (
	// mostPages bounds the pages of one look.
	mostPages = 10
	// atOnce is the number of comments that one transaction writes.
	atOnce = 25
	// mostTries bounds the failed attempts at one look. After that, the next look follows.
	mostTries = 5
)

// Wake adds to the transaction that the comments on a publication are read now, because the platform has announced a
// change. It has no effect after the last look.
func Wake(tx *store.Tx, now time.Time, o tenant.Owner, itemID, publicationID string) error {
	return task.Wake(tx, now, item.ReadingOf(o, itemID, publicationID))
}

// read reads the comments on a publication again and again, and ends when its readings are over.
func (w *Worker) read(ctx context.Context, r *task.Run) error {
	var p item.Reading
	if err := r.Decode(&p); err != nil || r.Cause() != nil {
		return err
	}
	of, err := w.item(ctx, r.Owner, r.Subject)
	if err != nil {
		return err
	}
	var pub *item.Publication
	if of != nil {
		pub = of.Publication(p.Publication)
	}
	if pub == nil {
		return w.forget(ctx, r, p) // nothing refers to the comments any more
	}
	if pub.State != item.PublicationPublished {
		return nil // the post was deleted
	}
	a, err := w.visits().Visit(ctx, r, p.Account, social.ForComments)
	if err != nil {
		return err
	}
	a.Tries = mostTries
	from, reads := a.Adapter.(platform.CommentReader)
	if a.Adapter != nil && !reads {
		return nil
	}
	price := social.Price{Of: social.ForReading}
	if own := a.Limits().Reads; own != nil {
		price.Units = own.Price
	}
	var found []platform.Comment
	uses, whole := 0, false
	if err = a.Affords(ctx, price); err == nil {
		err = a.Call(ctx, func(ctx context.Context, token platform.Account) (err error) {
			found, uses, whole, err = all(ctx, from, token, postOf(pub))
			return err
		})
	}
	switch {
	case task.Waits(err):
		return err
	case platform.Rejects(err):
		return nil // the post was deleted, or has no comments
	case err == nil:
		if err := w.keep(ctx, r, of, pub, found, whole); err != nil {
			return task.Again(err)
		}
		r.Also(func(ctx context.Context, tx *store.Tx) error {
			return a.Count(ctx, tx, social.Price{Of: social.ForReading, Units: uses, Urgent: true})
		})
	}
	a.Over()
	wait, more := p.Next(w.Now(), a.Limits().Comments)
	if !more {
		return nil
	}
	return r.Sleep(wait)
}

// all reads the comments on a post, and reports what that used of the budgets of the platform, and whether these are
// all.
func all(ctx context.Context, from platform.CommentReader, a platform.Account,
	post platform.Published) (read []platform.Comment, uses int, whole bool, err error) {
	after, partial := "", false
	for range mostPages {
		page, err := from.Comments(ctx, a, post, after)
		if err != nil {
			return nil, 0, false, err
		}
		uses += page.Uses
		read, partial = append(read, page.Comments...), partial || page.Partial
		if after = page.Next; after == "" {
			return read, uses, !partial, nil
		}
	}
	return read, uses, false, nil
}

// keep writes what has changed, in several transactions. Each may be repeated. The argument whole reports that other
// comments do not exist any more.
func (w *Worker) keep(ctx context.Context, r *task.Run, of *item.Record, pub *item.Publication, read []platform.Comment,
	whole bool) error {
	ids := map[string]string{} // by the ids at the platform
	wanted := map[string]platform.Comment{}
	for _, c := range read {
		if c.At.IsZero() || c.At.Before(pub.PublishedAt.Add(-24*time.Hour)) {
			c.At = pub.PublishedAt.Time
		}
		ids[c.ID] = newID(pub.ID, c)
		wanted[ids[c.ID]] = c
	}
	order := slices.Sorted(maps.Keys(wanted))
	for part := range slices.Chunk(order, atOnce) {
		items, err := w.DB.GetAll(ctx, store.IDKeys(part)...)
		if err != nil {
			return err
		}
		tx := &store.Tx{Origin: r.Request}
		for i, commentID := range part {
			c := wanted[commentID]
			if items[i].Kind == "" {
				err = w.create(tx, r.Owner, of, pub, c, commentID, ids[c.ParentID])
			} else {
				err = w.update(tx, items[i], c)
			}
			if err != nil {
				return err
			}
		}
		if err := w.commit(ctx, tx); err != nil {
			return err
		}
	}
	if !whole {
		return nil
	}
	return w.vanish(ctx, r, pub, wanted)
}

// commit commits a transaction that has writes.
func (w *Worker) commit(ctx context.Context, tx *store.Tx) error {
	if tx.Len() == 0 {
		return nil
	}
	return w.DB.Commit(ctx, tx)
}

// create adds a new comment to the transaction, with its event unless it is the account's own.
func (w *Worker) create(tx *store.Tx, o tenant.Owner, of *item.Record, pub *item.Publication, c platform.Comment,
	commentID, parentID string) error {
	now := w.Now()
	r := &Record{Remote: c.ID, Parent: c.ParentID, Comment: Comment{
		Resource:      resource.New(commentID, c.At, nil),
		PublicationID: pub.ID, ContentItemID: of.ID, FactoryID: of.FactoryID, SocialAccountID: pub.SocialAccountID,
		Platform: pub.Platform, Author: Author{Handle: resource.Text(line(c.Author.Handle)),
			Name: resource.Text(line(c.Author.Name))},
		Text: Clean(c.Text, maxText), Own: c.Own, State: Visible}}
	if parentID != "" {
		r.ParentID = &parentID
	}
	if c.Hidden != nil && *c.Hidden {
		r.State = Hidden
	}
	it, err := r.Entry(now, o)
	if err != nil {
		return err
	}
	tx.Create(it, nil)
	if c.Own {
		return nil
	}
	return r.notify(tx, now, o, event.CommentCreated)
}

// update adds to the transaction what has changed of a comment. A state that a caller changes at the moment stays.
func (w *Worker) update(tx *store.Tx, it store.Item, c platform.Comment) error {
	r, err := Decode(&it)
	if err != nil {
		return err
	}
	state, text := r.State, Clean(c.Text, maxText)
	switch {
	case r.Removed, r.Change != nil && r.Change.State == Pending:
	case c.Hidden != nil && *c.Hidden:
		state = Hidden
	case c.Hidden != nil, state == Deleted:
		state = Visible
	}
	if state == r.State && text == r.Text {
		return nil
	}
	r.State, r.Text = state, text
	r.Touch(w.Now())
	return r.Replace(tx, it)
}

// vanish notes the comments that do not exist any more.
func (w *Worker) vanish(ctx context.Context, r *task.Run, pub *item.Publication,
	found map[string]platform.Comment) error {
	var gone []store.Item
	err := w.DB.Each(ctx, store.Query{Index: store.ByParent, Partition: Partition(r.Owner, pub.ID),
		OneOf: map[string][]string{"state": {string(Visible), string(Hidden)}}, Limit: 100}, func(it store.Item) error {
		if _, ok := found[it.Parent.SK]; !ok {
			gone = append(gone, it)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for part := range slices.Chunk(gone, atOnce) {
		keys := make([]store.Key, len(part))
		for i, it := range part {
			keys[i] = store.IDKey(it.Parent.SK)
		}
		items, err := w.DB.GetAll(ctx, keys...) // the index may lag
		if err != nil {
			return err
		}
		tx := &store.Tx{Origin: r.Request}
		for _, it := range items {
			if it.Kind != Kind {
				continue
			}
			r, err := Decode(&it)
			if err != nil {
				return err
			}
			if r.State == Deleted {
				continue
			}
			r.State = Deleted
			r.Touch(w.Now())
			if err := r.Replace(tx, it); err != nil {
				return err
			}
		}
		if err := w.commit(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

// forget deletes the comments on a publication whose item was deleted.
func (w *Worker) forget(ctx context.Context, r *task.Run, p item.Reading) error {
	page, err := w.DB.List(ctx, store.Query{Index: store.ByParent, Partition: Partition(r.Owner, p.Publication),
		Limit: atOnce})
	if err != nil {
		return task.Again(err)
	}
	if len(page.Items) == 0 {
		return nil
	}
	keys := make([]store.Key, len(page.Items))
	for i, it := range page.Items {
		keys[i] = store.IDKey(it.Parent.SK)
	}
	items, err := w.DB.GetAll(ctx, keys...)
	if err != nil {
		return task.Again(err)
	}
	tx := &store.Tx{Origin: r.Request}
	for _, it := range items {
		if it.Kind == Kind {
			tx.Delete(it)
		}
	}
	if err := w.commit(ctx, tx); err != nil {
		return task.Again(err)
	}
	return r.Sleep(social.RefreshTime)
}
