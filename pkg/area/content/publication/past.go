package publication

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// The number of posts whose figures one step of an import reads, and the wait of an import for the budget of its
// platform.
const (
	pastAtOnce = 10
	pastWait   = 6 * time.Hour
)

// importPast reads the earlier posts of an account: a page, or the figures of some posts, in each step. A step may be
// repeated: a post is stored once.
func (w *Worker) importPast(ctx context.Context, r *task.Run) error {
	var p social.Importing
	if err := r.Decode(&p); err != nil {
		return err
	}
	_, imp, err := w.importOf(ctx, r)
	if err != nil {
		return task.Again(err)
	}
	if imp == nil {
		return nil
	}
	a, err := w.visits().Visit(ctx, r, p.Account, social.ForReading)
	if err != nil {
		return err
	}
	a.Tries = mostTries
	if f := unreadable(r, a, p); f != nil {
		return w.importEnds(r, f)
	}
	price := social.Price{Of: social.ForReading, Units: a.Limits().Past.Price}
	if own := a.Limits().Reads; own != nil {
		if price.Units = max(price.Units, own.Price); len(nextPast(imp)) > 0 {
			price.Units = own.Price * len(nextPast(imp))
		}
	}
	if err := a.Spend(ctx, price); task.Waits(err) {
		return err
	} else if err != nil {
		return r.Sleep(task.Jitter(pastWait))
	}
	var read []platform.PastPost
	err = a.Call(ctx, func(ctx context.Context, token platform.Account) (err error) {
		read, err = w.readPast(ctx, imp, a, token)
		return err
	})
	if task.Waits(err) {
		return err
	}
	if err != nil {
		return w.importEnds(r, importFailureOf(err))
	}
	a.Over()
	read = read[:min(len(read), social.MostPast-imp.Posts)]
	if imp.Posts+len(read) >= social.MostPast {
		imp.Listed, imp.Waiting = true, nil
	}
	r.Also(func(ctx context.Context, tx *store.Tx) error { return w.keepPast(ctx, tx, a, *imp, read) })
	if imp.Over() {
		return nil
	}
	return r.Sleep(0)
}

// unreadable returns why an import cannot go on, or nil if it can.
func unreadable(r *task.Run, a *social.Visit, p social.Importing) *social.ImportFailure {
	_, lists := a.Adapter.(platform.PastReader)
	switch {
	case r.Cause() != nil:
		return importFailure(importFailed, "The import has failed. Import again later.", nil)
	case a.Account.ID == "":
		return importFailure("account_deleted", "The social account was deleted.", nil)
	case !lists || !a.Account.Usable() || a.Account.Connection != p.Connection:
		return importFailure(platform.CodeNeedsReconnect, "The social account is not connected any more. Connect it, "+
			"and import again.", nil)
	}
	return nil
}

// nextPast returns the posts whose figures the next step reads.
func nextPast(p *social.StoredImport) []platform.PastPost {
	return p.Waiting[:min(pastAtOnce, len(p.Waiting))]
}

// readPast reads the next page, or the figures of the next posts that wait for them.
func (w *Worker) readPast(ctx context.Context, p *social.StoredImport, a *social.Visit,
	token platform.Account) (posts []platform.PastPost, err error) {
	if some := nextPast(p); len(some) > 0 {
		for _, post := range some {
			if post.Metrics, err = a.Adapter.Metrics(ctx, token, platform.Published{ID: post.ID}); err != nil {
				if !platform.Refuses(err) {
					return nil, err
				}
				continue // the platform has no figures of this post
			}
			posts = append(posts, post)
		}
		p.Waiting = p.Waiting[len(some):]
		return posts, nil
	}
	page, next, err := a.Adapter.(platform.PastReader).PastPosts(ctx, token, p.Cursor)
	if err != nil {
		return nil, err
	}
	p.Cursor, p.Listed = next, next == ""
	for _, post := range page {
		switch {
		case post.At.Before(w.Now().Add(-social.PastSince)):
			p.Listed = true
		case post.At.After(a.Account.CreatedAt.Time):
		case len(post.Named()) == 0 && !a.Limits().Past.Figures:
			p.Waiting = append(p.Waiting, post)
		default:
			posts = append(posts, post)
		}
	}
	return posts, nil
}

// keepPast stores posts, but for those of the service, with how far the import is. It ends the import after the last
// one.
func (w *Worker) keepPast(ctx context.Context, tx *store.Tx, a *social.Visit, after social.StoredImport,
	read []platform.PastPost) error {
	it, imp, err := w.importOf(ctx, a.Run)
	if err != nil || imp == nil {
		return err
	}
	imp.Cursor, imp.Listed, imp.Waiting = after.Cursor, after.Listed, after.Waiting
	keys := make([]store.Key, len(read))
	for i, post := range read {
		keys[i] = item.PostKey(a.Account.Platform, a.Account.PlatformID, post.ID)
	}
	own, err := w.DB.GetAll(ctx, keys...)
	if err != nil {
		return err
	}
	var posts []platform.PastPost
	for i, post := range read {
		if own[i].Kind == item.PostKind {
			imp.Own++
			continue
		}
		posts = append(posts, post)
	}
	added, err := social.KeepPast(ctx, w.DB, tx, w.Now(), a.Run.Owner, a.Account.ID, posts)
	if err != nil {
		return fmt.Errorf("publication: keep earlier posts of %s: %w", a.Account.ID, err)
	}
	imp.Posts, imp.Added = imp.Posts+len(posts), imp.Added+added
	for _, post := range posts {
		if imp.Since == nil || post.At.Before(imp.Since.Time) {
			at := resource.Instant(post.At)
			imp.Since = &at
		}
	}
	if imp.Over() {
		if err := imp.End(tx, w.Now(), a.Run.Owner, nil); err != nil {
			return err
		}
	}
	return imp.Replace(tx, w.Now(), it)
}

// importOf reads the import that a task works on. It returns nil if that is gone.
func (w *Worker) importOf(ctx context.Context, r *task.Run) (it store.Item, imp *social.StoredImport, err error) {
	it, err = w.DB.Lookup(ctx, store.IDKey(r.Subject))
	if err != nil || it.Kind != social.ImportKind || it.Owner != r.Owner {
		return it, nil, err
	}
	imp = &social.StoredImport{}
	return it, imp, it.Decode(imp)
}

// importEnds ends an import that has failed. What is stored until then stays.
func (w *Worker) importEnds(r *task.Run, f *social.ImportFailure) error {
	return r.End(func(ctx context.Context, tx *store.Tx) error {
		it, imp, err := w.importOf(ctx, r)
		if err != nil || imp == nil {
			return err
		}
		if err := imp.End(tx, w.Now(), r.Owner, f); err != nil {
			return err
		}
		return imp.Replace(tx, w.Now(), it)
	})
}

// importFailed is the code of an import whose steps keep failing.
const importFailed platform.Code = "import_failed"

func importFailure(code platform.Code, message string, cause error) *social.ImportFailure {
	return &social.ImportFailure{Code: string(code), Message: message,
		PlatformMessage: resource.OrNil(platform.WordsOf(cause)),
		Retryable:       code == platform.CodePlatformUnavailable || code == importFailed}
}

// importFailureOf returns the failure that the error of a call means.
func importFailureOf(err error) *social.ImportFailure {
	var e *platform.Error
	switch {
	case platform.Denied(err):
		return importFailure(platform.CodeMissingPermission, "The account was connected without the permission to "+
			"read its posts. Connect it again, allow all that the page asks for, and import again.", err)
	case errors.As(err, &e) && e.Kind == platform.BadContent:
		return importFailure(e.Code, e.Message, err)
	case platform.Ended(err):
		return importFailure(platform.CodeNeedsReconnect, "The platform has ended the access to the account. Connect "+
			"it again, and import again.", err)
	}
	return importFailure(platform.CodePlatformUnavailable, "The platform could not be reached after several attempts. "+
		"Import again later.", err)
}
