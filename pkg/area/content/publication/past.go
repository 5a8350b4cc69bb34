package publication

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/seal"
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

// importer is the handler of social.Import, the task that reads earlier posts.
type importer struct{ *Worker }

// Step reads a page of earlier posts, or the figures of some of them. A step may be repeated: a post is stored once.
func (w importer) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	var p social.Importing
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	items, err := w.DB.GetAll(ctx, store.IDKey(s.Subject), store.IDKey(p.Account))
	if err != nil {
		return o, task.Again(err)
	}
	if items[0].Kind != social.ImportKind || items[0].Owner != s.Owner {
		return task.Outcome{Done: true}, nil
	}
	var imp social.PostImport
	if err := items[0].Decode(&imp); err != nil {
		return o, err
	}
	if !social.Is(items[1], s.Owner) {
		return w.end(s, "account_deleted", "The social account was deleted."), nil
	}
	acct, err := social.Decode(&items[1])
	if err != nil {
		return o, task.Again(err)
	}
	adapter, ok := w.Platforms.Of(s.Mode, acct.Platform)
	_, lists := adapter.(platform.PastReader)
	if !ok || !lists || !acct.Usable() || acct.Connection != p.Connection {
		return w.end(s, platform.CodeNeedsReconnect, "The social account is not connected any more. Connect it, and "+
			"import again."), nil
	}
	limits := adapter.Capabilities()
	if limits.Reads != nil && s.Mode == tenant.Live && !p.Granted {
		price := max(limits.Past.Price, limits.Reads.Price)
		if n := len(nextPast(&p)); n > 0 {
			price = limits.Reads.Price * n
		}
		o, within, err := w.allow(ctx, acct.Meter(), limits, price, false, func(granted bool) any {
			p.Granted = granted
			return p
		})
		if err == nil && !within {
			o = task.Outcome{Payload: p, Wait: task.Jitter(pastWait)}
		}
		return o, err
	}
	ctx, token, err := w.Vault.Token(ctx, s.Owner, &acct)
	if err == nil {
		var read []platform.PastPost
		if read, err = w.readPast(ctx, &p, acct, adapter, token); err == nil {
			return w.keep(s, p, acct, read, imp.Posts), nil
		}
	}
	if ctx.Err() != nil {
		return o, ctx.Err()
	}
	return w.failed(s, p, err, items[1].Key, acct.Tokens), nil
}

// nextPast returns the posts whose figures the next step reads.
func nextPast(p *social.Importing) []platform.PastPost {
	return p.Waiting[:min(pastAtOnce, len(p.Waiting))]
}

// readPast reads the next page, or the figures of the next posts that wait for them.
func (w importer) readPast(ctx context.Context, p *social.Importing, acct social.Record, adapter platform.Adapter,
	token platform.Account) (posts []platform.PastPost, err error) {
	if some := nextPast(p); len(some) > 0 {
		for _, post := range some {
			if post.Metrics, err = adapter.Metrics(ctx, token, platform.Published{ID: post.ID}); err != nil {
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
	page, next, err := adapter.(platform.PastReader).PastPosts(ctx, token, p.Cursor)
	if err != nil {
		return nil, err
	}
	p.Cursor, p.Listed = next, next == ""
	for _, post := range page {
		switch {
		case post.At.Before(w.Now().Add(-social.PastSince)):
			p.Listed = true
		case post.At.After(acct.CreatedAt.Time):
		case len(post.Named()) == 0 && !adapter.Capabilities().Past.Figures:
			p.Waiting = append(p.Waiting, post)
		default:
			posts = append(posts, post)
		}
	}
	return posts, nil
}

// keep returns the outcome that stores posts, but for those of the service, and that ends the import after the last
// one. So many posts were stored before.
func (w importer) keep(s *task.Step, p social.Importing, acct social.Record, read []platform.PastPost,
	before int) task.Outcome {
	p.Tries, p.Granted = 0, false
	read = read[:min(len(read), social.MostPast-before)]
	if before+len(read) >= social.MostPast {
		p.Listed, p.Waiting = true, nil
	}
	done := p.Listed && len(p.Waiting) == 0
	return task.Outcome{Payload: p, Done: done, Join: func(ctx context.Context, tx *store.Tx) error {
		it, imp, err := w.importOf(ctx, s)
		if err != nil {
			return err
		}
		keys := make([]store.Key, len(read))
		for i, post := range read {
			keys[i] = item.PostKey(acct.Platform, acct.PlatformID, post.ID)
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
		added, err := social.KeepPast(ctx, w.DB, tx, w.Now(), s.Owner, acct.ID, posts)
		if err != nil {
			return fmt.Errorf("publication: keep earlier posts of %s: %w", acct.ID, err)
		}
		imp.Posts, imp.Added = imp.Posts+len(posts), imp.Added+added
		for _, post := range posts {
			if imp.Since == nil || post.At.Before(imp.Since.Time) {
				at := resource.Instant(post.At)
				imp.Since = &at
			}
		}
		if done {
			if err := imp.End(tx, w.Now(), s.Owner, nil); err != nil {
				return err
			}
		}
		return replaceImport(tx, w.Now(), it, imp)
	}}
}

// importOf reads the record of the import that a task works on.
func (w importer) importOf(ctx context.Context, s *task.Step) (it store.Item, imp social.PostImport, err error) {
	if it, err = w.DB.Get(ctx, store.IDKey(s.Subject)); err != nil {
		return it, imp, err
	}
	return it, imp, it.Decode(&imp)
}

// replaceImport adds a changed import to the transaction.
func replaceImport(tx *store.Tx, now time.Time, it store.Item, imp social.PostImport) error {
	imp.Touch(now)
	if err := it.Encode(imp); err != nil {
		return err
	}
	tx.Replace(it)
	return nil
}

// importFailed is the code of an import whose steps keep failing.
const importFailed platform.Code = "import_failed"

// end returns the outcome of an import that has failed, with the reason for its caller.
func (w importer) end(s *task.Step, code platform.Code, message string, cause ...error) task.Outcome {
	failure := social.ImportFailure{Code: string(code), Message: message,
		PlatformMessage: resource.OrNil(platform.WordsOf(errors.Join(cause...))),
		Retryable:       code == platform.CodePlatformUnavailable || code == importFailed}
	return task.Outcome{Done: true, Join: func(ctx context.Context, tx *store.Tx) error {
		it, imp, err := w.importOf(ctx, s)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := imp.End(tx, w.Now(), s.Owner, &failure); err != nil {
			return err
		}
		return replaceImport(tx, w.Now(), it, imp)
	}}
}

// failed returns the outcome of a call that failed. It is tried again some times, and what is stored until then stays.
func (w importer) failed(s *task.Step, p social.Importing, cause error, key store.Key, used int) (o task.Outcome) {
	var e *platform.Error
	kind := platform.KindOf(cause)
	switch p.Tries++; {
	case platform.Denied(cause):
		return w.end(s, platform.CodeMissingPermission, "The account was connected without the permission to read its "+
			"posts. Connect it again, allow all that the page asks for, and import again.", cause)
	case errors.As(cause, &e) && kind == platform.BadContent:
		return w.end(s, e.Code, e.Message, cause)
	case p.Tries >= mostTries || errors.Is(cause, seal.ErrOpen):
		return w.end(s, platform.CodePlatformUnavailable, "The platform could not be reached after several attempts. "+
			"Import again later.", cause)
	case kind == platform.Reconnect:
		o = w.end(s, platform.CodeNeedsReconnect, "The platform has ended the access to the account. Connect it "+
			"again, and import again.", cause)
		end, lose := o.Join, w.note(social.ForReading, cause, key, used)
		o.Join = func(ctx context.Context, tx *store.Tx) error { return errors.Join(end(ctx, tx), lose(ctx, tx)) }
		return o
	}
	p.Granted = false
	return task.Outcome{Payload: p, Wait: pause(p.Tries, cause), Join: w.note(social.ForReading, cause, key, used)}
}

// Fail ends an import whose steps keep failing.
func (w importer) Fail(_ context.Context, s *task.Step, _ error) (task.Outcome, error) {
	return w.end(s, importFailed, "The import has failed. Import again later."), nil
}
