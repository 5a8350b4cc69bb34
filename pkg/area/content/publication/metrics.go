package publication

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// The times after a publication at which the metrics of its post are read: the first ones, and then each day up to the
// last.
var firstReadings = []time.Duration{time.Hour, 6 * time.Hour, day}

// lastReading is the age of a post at its last reading.
const lastReading = 90 * day

// following returns the age at the first reading of a post that is older than the given age. It returns false if all
// readings are over.
func following(age time.Duration) (time.Duration, bool) {
	for _, at := range firstReadings {
		if at > age {
			return at, true
		}
	}
	next := age.Truncate(day) + day
	return next, next <= lastReading
}

// mostTries bounds the attempts at one reading. After that, the next reading follows.
const mostTries = 10

// reading is the payload of a Read task.
type reading struct {
	Publication string    `json:"publication"`
	Account     string    `json:"account"`
	At          time.Time `json:"at"`
}

// watch starts the task that reads the metrics of a publication.
func watch(p planner, pub *item.Publication) error {
	due := pub.PublishedAt.Add(firstReadings[0])
	if p.r.Item.PublishAt != nil && p.r.Item.PublishAt.After(pub.PublishedAt.Time) && p.Mode == tenant.Test {
		due = p.now // the clock of the sandbox was moved: the post may be days old
	}
	return task.Create(p.tx, p.now, task.Task{
		Message: task.Message{ID: task.ID(Read, pub.ID, 1), Kind: Read, Queue: topology.Publish, Subject: p.r.Item.ID,
			Owner: p.Owner},
		DueAt: due,
	}, reading{Publication: pub.ID, Account: pub.SocialAccountID, At: pub.PublishedAt.Time})
}

// metrics reads the metrics of a publication again and again. If a platform limits calls, the next reading is at the
// time that it names. Readings whose time has passed meanwhile are left out, because they would be the same.
func (w *Worker) metrics(ctx context.Context, r *task.Run) error {
	var p reading
	if err := r.Decode(&p); err != nil {
		return err
	}
	_, of, beside, err := w.read(ctx, r.Step, store.IDKey(p.Account), testclock.Key(r.Owner))
	if err != nil {
		return task.Again(err)
	}
	if of == nil || of.Item.Publication(p.Publication) == nil {
		return nil // the item was deleted
	}
	pub := of.Item.Publication(p.Publication)
	clock, err := testclock.Of(&beside[1])
	if err != nil {
		return err
	}
	a, err := w.visits().Of(r, beside[0], social.ForReading)
	if err != nil {
		return err
	}
	a.Tries = mostTries
	if a.Adapter != nil && a.Account.Usable() && !a.Account.FiguresRefused { // or else once it is connected again
		var read platform.Metrics
		price := social.Price{Of: social.ForReading, Urgent: w.Now().Sub(p.At) <= day}
		if own := a.Limits().Reads; own != nil {
			price.Units = own.Price
		}
		if err = a.Spend(ctx, price); err == nil {
			err = a.Call(ctx, func(ctx context.Context, token platform.Account) (err error) {
				read, err = a.Adapter.Metrics(ctx, token, published(of, pub, clock))
				return err
			})
		}
		switch {
		case task.Waits(err):
			return err
		case platform.Rejects(err) && !platform.Denied(err):
			return nil // the post was deleted, or has no metrics
		case err == nil:
			r.Also(func(ctx context.Context, tx *store.Tx) error { return w.keepMetrics(ctx, tx, r, p, read) })
		}
	}
	a.Over()
	age := w.Now().Sub(p.At) + aged(clock, of, pub)
	at, ok := following(age)
	if !ok {
		return nil
	}
	return r.Sleep(at - age)
}

// keepMetrics adds metrics that were read to their publication.
func (w *Worker) keepMetrics(ctx context.Context, tx *store.Tx, r *task.Run, p reading, read platform.Metrics) error {
	it, of, beside, err := w.read(ctx, r.Step, item.ReadingsKey(p.Publication))
	if err != nil || of == nil {
		return err
	}
	pub := of.Item.Publication(p.Publication)
	if pub == nil {
		return nil
	}
	now := w.Now()
	pub.Metrics = item.ReadMetrics(read, pub.Metrics, now)
	if err := item.NoteMetrics(tx, r.Owner, pub, beside[0]); err != nil {
		return err
	}
	pub.Touch(now)
	of.Item.Touch(now)
	return item.Replace(tx, it, of)
}

// published returns the identity of a publication at its platform.
func published(r *item.Record, pub *item.Publication, clock testclock.Clock) (p platform.PublishedPost) {
	p.Ahead = aged(clock, r, pub)
	if pub.PlatformPostID != nil {
		p.ID = *pub.PlatformPostID
	}
	if pub.URL != nil {
		p.URL = *pub.URL
	}
	return p
}

// The days before the present one that a reading of an account asks for: the first reading, and later ones, because
// platforms correct their figures for some days.
const (
	firstDays = 89
	laterDays = 7
)

// metricsMemory is what the task of an account remembers.
type metricsMemory struct {
	// ImportStarted reports that the import of earlier posts was started, and Earlier that figures of earlier days were
	// read.
	ImportStarted bool `json:"imported,omitempty"`
	Earlier       bool `json:"earlier,omitempty"`
	// FailureLogged reports that the log has that the figures cannot be read, since the last reading.
	FailureLogged bool `json:"logged,omitempty"`
}

// measure starts the import of the earlier posts of an account, and then reads the figures of its days again and again,
// as long as it is connected. A platform that refuses a reading for good, such as for a permission that the owner of
// the account has not granted, is asked again on the next day.
func (w *Worker) measure(ctx context.Context, r *task.Run) error {
	var p social.Measuring
	var known metricsMemory
	if err := errors.Join(r.Decode(&p), r.Recall("known", &known)); err != nil {
		return err
	}
	a, err := w.visits().Visit(ctx, r, r.Subject, social.ForReading)
	if err != nil {
		return err
	}
	a.Tries = mostTries
	if a.Adapter == nil || !a.Account.Usable() || a.Account.Connection != p.Connection {
		return nil
	}
	limits := a.Limits()
	if limits.Past.Page > 0 && !known.ImportStarted {
		known.ImportStarted = true
		r.Also(func(_ context.Context, tx *store.Tx) error {
			_, err := a.Account.StartImport(tx, w.Now(), r.Owner, nil)
			return err
		})
		return errors.Join(r.Keep("known", known), r.Sleep(0))
	}
	reads, ok := a.Adapter.(platform.AccountReader)
	if !ok || len(limits.Account.Names) == 0 {
		return nil
	}
	price := social.Price{Of: social.ForReading, Units: limits.Account.Price, Urgent: true}
	if limits.Reads != nil {
		price.Units = max(price.Units, limits.Reads.Price)
	}
	err = a.Spend(ctx, price)
	if err == nil { // or else the reading is left out
		if err = w.readDays(ctx, a, reads, &known); err != nil && !task.Waits(err) && !known.FailureLogged {
			if err := r.Lease(ctx, nil); err != nil { // a second message of this step logs nothing
				return err
			}
			known.FailureLogged = true
			slog.Warn("figures of an account not read", "social_account_id", a.Account.ID, "platform",
				a.Account.Platform, "error", err)
		}
	}
	if task.Waits(err) {
		return err
	}
	a.Over()
	now := w.Now()
	return errors.Join(r.Keep("known", known), r.Sleep(a.Account.NextMeasure(now).Sub(now)))
}

// readDays reads the figures of the account once.
func (w *Worker) readDays(ctx context.Context, a *social.Visit, reads platform.AccountReader,
	known *metricsMemory) error {
	today := platform.Midnight(w.Now())
	from := today
	switch {
	case !a.Limits().Account.History:
	case known.Earlier:
		from = today.AddDate(0, 0, -laterDays)
	default:
		from = today.AddDate(0, 0, -firstDays)
	}
	var days []platform.Day
	if err := a.Call(ctx, func(ctx context.Context, token platform.Account) (err error) {
		days, err = reads.Days(ctx, token, from)
		return err
	}); err != nil {
		return err
	}
	known.FailureLogged = false
	known.Earlier = known.Earlier || slices.ContainsFunc(days,
		func(d platform.Day) bool { return d.Date.Before(today) && len(d.Names()) > 0 })
	a.Run.Also(func(ctx context.Context, tx *store.Tx) error {
		if err := social.KeepDays(ctx, w.DB, tx, a.Run.Owner, a.Account.ID, days); err != nil {
			return fmt.Errorf("publication: keep the days of %s: %w", a.Account.ID, err)
		}
		return nil
	})
	return nil
}

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
			if post.Metrics, err = a.Adapter.Metrics(ctx, token, platform.PublishedPost{ID: post.ID}); err != nil {
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
		case len(post.Names()) == 0 && !a.Limits().Past.Figures:
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
