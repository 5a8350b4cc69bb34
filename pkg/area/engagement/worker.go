package engagement

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/budget"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// The kinds of tasks.
const (
	Reply  task.Kind = "comments.reply"  // writes a reply
	Adjust task.Kind = "comments.change" // hides, shows or deletes a comment
)

// commentWithin bounds the duration of a reply or a change.
const commentWithin = time.Hour

// Worker does the tasks of comments.
type Worker struct {
	Budgets   social.Budgets
	DB        *store.DB
	Platforms social.Adapters
	Vault     social.Vault
	Now       func() time.Time
}

// Handlers returns the handlers of the kinds of tasks.
func (w *Worker) Handlers() map[task.Kind]task.Handler {
	return map[task.Kind]task.Handler{item.ReadComments: task.Func(w.read), Reply: task.Func(w.reply),
		Adjust: task.Func(w.change)}
}

// requestNumber is the payload of a task of the n-th request of its kind.
type requestNumber struct {
	Number int `json:"number"`
}

// waiting reads the comment of a reply or a change. The record is nil if it does not wait for the task any more.
func (w *Worker) waiting(ctx context.Context, r *task.Run) (it store.Item, c *Record, err error) {
	var p requestNumber
	if err := r.Decode(&p); err != nil {
		return it, nil, err
	}
	if it, err = w.DB.Lookup(ctx, store.IDKey(r.Subject)); err != nil {
		return it, nil, task.Again(err)
	}
	if it.Kind != Kind || it.Owner != r.Owner {
		return it, nil, nil
	}
	if c, err = Decode(&it); err != nil {
		return it, nil, err
	}
	if r.Kind == Reply && (c.Reply == nil || c.Reply.State != Pending || c.Replies != p.Number) ||
		r.Kind == Adjust && (c.Change == nil || c.Change.State != Pending || c.Changes != p.Number) {
		c = nil
	}
	return it, c, nil
}

// visit visits the account that has published the post of a comment, with the post.
func (w *Worker) visit(ctx context.Context, r *task.Run, c *Record) (a *social.Visit, p platform.PublishedPost,
	err error) {
	of, err := w.item(ctx, r.Owner, c.ContentItemID)
	if err != nil {
		return nil, p, err
	}
	if of != nil {
		p = postOf(of.Item.Publication(c.PublicationID)) // adapters refuse a post without an id
	}
	a, err = w.visits().Visit(ctx, r, c.SocialAccountID, social.ForComments)
	return a, p, err
}

func (w *Worker) visits() social.Visits {
	return social.Visits{DB: w.DB, Platforms: w.Platforms, Vault: w.Vault, Budgets: w.Budgets, Now: w.Now}
}

// item reads a content item, or returns nil if it is gone.
func (w *Worker) item(ctx context.Context, o tenant.Owner, itemID string) (*item.Record, error) {
	_, of, _, err := item.Lookup(ctx, w.DB, o, itemID)
	if err != nil {
		return nil, task.Again(err)
	}
	return of, nil
}

func postOf(pub *item.Publication) (p platform.PublishedPost) {
	if pub == nil {
		return p
	}
	if pub.PlatformPostID != nil {
		p.ID = *pub.PlatformPostID
	}
	if pub.URL != nil {
		p.URL = *pub.URL
	}
	return p
}

// failure returns the failure that an error of a visit means. It returns nil for nil, and late if the task has failed.
func failure(r *task.Run, err error, late *Failure) *Failure {
	var e *platform.Error
	switch {
	case err == nil:
		return nil
	case r.Cause() != nil || !errors.As(err, &e):
		return late
	}
	return &Failure{Code: string(e.Code), Message: e.Message, PlatformMessage: resource.OrNil(e.Words),
		Retryable: e.Retryable()}
}

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
		pub = of.Item.Publication(p.Publication)
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
	post platform.PublishedPost) (read []platform.Comment, uses int, whole bool, err error) {
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
		if err := w.DB.Commit(ctx, tx); err != nil {
			return err
		}
	}
	if !whole {
		return nil
	}
	return w.vanish(ctx, r, pub, wanted)
}

// create adds a new comment to the transaction, with its event unless it is the account's own.
func (w *Worker) create(tx *store.Tx, o tenant.Owner, of *item.Record, pub *item.Publication, c platform.Comment,
	commentID, parentID string) error {
	now := w.Now()
	r := &Record{Remote: c.ID, Parent: c.ParentID, Comment: Comment{
		Resource:      resource.New(commentID, c.At, nil),
		PublicationID: pub.ID, ContentItemID: of.Item.ID, FactoryID: of.Item.FactoryID,
		SocialAccountID: pub.SocialAccountID,
		Platform:        pub.Platform, Author: Author{Handle: resource.Text(line(c.Author.Handle)),
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
		if err := w.DB.Commit(ctx, tx); err != nil {
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
	if err := w.DB.Commit(ctx, tx); err != nil {
		return task.Again(err)
	}
	return r.Sleep(social.RefreshTime)
}

// mostLooks is the number of looks for a reply whose answer was lost. They take about 15 minutes.
const mostLooks = 8

// The failures of a reply that was not written in time, and of one whose answer was lost.
var (
	lateReply = &Failure{Code: item.FailedTimeout, Retryable: true,
		Message: "The platform did not take the reply in time. Send it again."}
	lostReply = &Failure{Code: string(platform.CodeOutcomeUnknown), Message: "The platform's answer was lost. Look " +
		"at the comments of the post: the reply may exist."}
)

// StartReply adds to the transaction that a reply to a comment is written. The caller has checked that the platform
// can, and writes the comment.
func StartReply(tx *store.Tx, now time.Time, o tenant.Owner, r *Record, text string) error {
	r.Replies++
	r.Reply = &Answer{Text: text, State: Pending, At: resource.Instant(now)}
	r.Touch(now)
	return start(tx, now, o, Reply, r.ID, r.Replies)
}

// start adds the task of a request to the transaction. Requests of a kind for a comment are numbered.
func start(tx *store.Tx, now time.Time, o tenant.Owner, kind task.Kind, commentID string, number int) error {
	return task.Create(tx, now, task.Task{
		Message: task.Message{ID: task.ID(kind, commentID, number), Kind: kind, Queue: topology.Publish,
			Subject: commentID, Owner: o},
		Deadline: now.Add(commentWithin),
	}, requestNumber{Number: number})
}

// reply writes a reply once. If the answer is lost, it looks for the reply and never writes it again.
func (w *Worker) reply(ctx context.Context, r *task.Run) error {
	_, c, err := w.waiting(ctx, r)
	if err != nil || c == nil {
		return err
	}
	a, post, err := w.visit(ctx, r, c)
	if err != nil {
		return err
	}
	begun, kept := w.Now(), platform.Handle("") // what an attempt leaves to the next one
	var refusal *Failure                        // for a reason that the adapter does not know
	if err := errors.Join(r.Recall("begun", &begun), r.Keep("begun", begun), r.Recall("kept", &kept),
		r.Recall("refusal", &refusal)); err != nil {
		return err
	}
	writer, writes := a.Adapter.(platform.Replier)
	reply := platform.Reply{Key: fmt.Sprint(c.ID, "-", c.Replies), Post: post, To: c.remote(), Text: c.Reply.Text,
		At: begun, Handle: &kept}
	id, absent := "", false
	err = a.Spend(ctx, social.Price{Of: social.ForComments, Units: a.Limits().Comments.Uses.OfReply(reply.Text)})
	if err == nil {
		id, err = social.Once(ctx, a, "reply", func(ctx context.Context, token platform.Account) (string, error) {
			if !writes {
				return "", platform.Reject(platform.CodeUnsupported, "The platform takes no replies of applications.")
			}
			id, err := writer.Reply(ctx, token, reply)
			if platform.Refuses(err) {
				refusal = failure(r, err, nil)
			}
			return id, errors.Join(err, r.Keep("kept", kept), r.Keep("refusal", refusal))
		})
	}
	if errors.Is(err, task.ErrLost) {
		id, err = task.Look(ctx, r, "reply", mostLooks, func(ctx context.Context) (id string, found bool, err error) {
			err = a.Call(ctx, func(ctx context.Context, token platform.Account) (err error) {
				id, err = platform.FindReply(ctx, writer, token, reply)
				return err
			})
			absent = err == nil && id == ""
			return id, id != "", err
		})
	}
	if task.Waits(err) {
		return err
	}
	gone, f := platform.Gone(err), failure(r, err, lateReply)
	switch {
	case absent && refusal != nil: // the platform has refused the reply, and does not have it
		f = refusal
	case errors.Is(err, task.ErrLost):
		f = lostReply
	}
	return r.End(func(ctx context.Context, tx *store.Tx) error {
		it, c, err := w.waiting(ctx, r)
		if err != nil || c == nil {
			return err
		}
		now, done := w.Now(), *c.Reply
		done.State, done.Failure, done.RemoteID = Done, f, resource.OrNil(id)
		if c.Reply = &done; gone {
			c.State = Deleted
		}
		c.Touch(now)
		if f != nil {
			done.State = Failed
		} else if err := c.notify(tx, now, r.Owner, event.CommentReplied); err != nil {
			return err
		}
		return c.Replace(tx, it)
	})
}

// lateChange is the failure of a change that was not done in time.
var lateChange = &Failure{Code: string(platform.CodeOutcomeUnknown), Retryable: true,
	Message: "The platform did not confirm the change in time. Look at the comment, and repeat the change if it is " +
		"needed."}

// StartChange adds to the transaction that a comment is hidden, shown or deleted at its platform. The caller has
// checked that the platform can, and writes the comment.
func StartChange(tx *store.Tx, now time.Time, o tenant.Owner, r *Record, kind string) error {
	r.Changes++
	r.Change = &Change{Kind: kind, State: Pending, At: resource.Instant(now)}
	r.Touch(now)
	return start(tx, now, o, Adjust, r.ID, r.Changes)
}

// change hides, shows or deletes a comment. A lost answer is followed by the same call, which is harmless.
func (w *Worker) change(ctx context.Context, r *task.Run) error {
	_, c, err := w.waiting(ctx, r)
	if err != nil || c == nil {
		return err
	}
	a, post, err := w.visit(ctx, r, c)
	if err != nil {
		return err
	}
	uses, removes := a.Limits().Comments.Uses, c.Change.Kind == Remove
	price := social.Price{Of: social.ForComments, Units: uses.Hide}
	if removes {
		price.Units = uses.Delete
	}
	if err = a.Spend(ctx, price); err == nil {
		err = a.Call(ctx, func(ctx context.Context, token platform.Account) error {
			if err := r.Lease(ctx, nil); err != nil { // so that two workers do not send different changes
				return err
			}
			hider, hides := a.Adapter.(platform.CommentHider)
			deleter, deletes := a.Adapter.(platform.CommentDeleter)
			switch {
			case removes && deletes:
				return deleter.DeleteComment(ctx, token, post, c.Remote)
			case !removes && hides:
				return hider.HideComment(ctx, token, post, c.Remote, c.Change.Kind == Hide)
			}
			return platform.Unsupported("this change of comments")
		})
	}
	if task.Waits(err) {
		return err
	}
	gone, f := platform.Gone(err), failure(r, err, lateChange)
	if gone && removes {
		f = nil
	}
	return r.End(func(ctx context.Context, tx *store.Tx) error {
		it, c, err := w.waiting(ctx, r)
		if err != nil || c == nil {
			return err
		}
		done := *c.Change
		done.State, done.Failure = Done, f
		switch {
		case f != nil:
			done.State = Failed
		case done.Kind == Hide:
			c.State = Hidden
		case done.Kind == Show:
			c.State = Visible
		default:
			c.State, c.Removed = Deleted, true
		}
		if c.Change = &done; gone {
			c.State = Deleted
		}
		c.Touch(w.Now())
		return c.Replace(tx, it)
	})
}

// hooks is what a webhook may have. Those that are forms have few values.
var hooks = budget.Budget{Name: "webhook of a " +
	"platform", Bytes: maxHook, Elements: 20_000, Depth: 50, Time: 5 * time.Second}

const (
	// param is the parameter that names the platform in the address of its webhooks, which is that of the callback.
	param = "hook"
	// maxHook is the size of the largest webhook, and maxAnnounced bounds the posts of one. The comments on other posts
	// are read at their usual times.
	maxHook      = 256 << 10
	maxAnnounced = 100
	// sameHook is the time within which a webhook with the same content is a repeat.
	sameHook = time.Hour
)

// Hints receives webhooks.
type Hints struct {
	db        *store.DB
	platforms *social.Platforms
	now       func() time.Time
}

// NewHints returns the service.
func NewHints(db *store.DB, platforms *social.Platforms, now func() time.Time) *Hints {
	return &Hints{db, platforms, now}
}

// OpenHints opens the service of a function.
func OpenHints(e area.Env) *Hints { return NewHints(e.DB, social.OpenPlatforms(e), e.Now) }

// With returns the handler of the function. It serves the webhooks, which need no key, and all else.
func (s *Hints) With(others http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == social.CallbackPath && req.URL.Query().Has(param) {
			s.hook(w, req)
			return
		}
		others.ServeHTTP(w, req)
	})
}

func (s *Hints) hook(w http.ResponseWriter, req *http.Request) {
	status, answer := s.hooked(req)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if _, err := io.WriteString(w, answer); err != nil {
		slog.Info("the sender of a webhook has gone", "error", err)
	}
}

func (s *Hints) hooked(req *http.Request) (status int, answer string) {
	ctx, name := req.Context(), req.URL.Query().Get(param)
	adapter, _ := s.platforms.Of(tenant.Live, name)
	from, ok := adapter.(platform.Announcer)
	switch {
	case !ok:
		return http.StatusNotFound, ""
	case req.Method != http.MethodGet && req.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, ""
	}
	body, err := io.ReadAll(io.LimitReader(req.Body, maxHook+1))
	if err != nil || len(body) > maxHook || hooks.JSON(ctx, body) != nil {
		return http.StatusRequestEntityTooLarge, ""
	}
	posts, answer, err := from.ChangedPosts(ctx, platform.Hook{Method: req.Method, Query: req.URL.Query(),
		Header: req.Header, Body: body})
	switch {
	case errors.Is(err, platform.ErrForged):
		return http.StatusForbidden, ""
	case platform.CodeOf(err) == platform.CodeNotConfigured:
		return http.StatusNotFound, ""
	case err == nil:
		err = s.announce(ctx, name, posts, body)
	}
	if err != nil {
		slog.Error("webhook of a platform not taken", "platform", name, "error", err)
		return http.StatusServiceUnavailable, "" // the platform sends it again
	}
	return http.StatusOK, answer
}

// announce has the comments on posts read now. A post that no connected account has published has no effect, nor has a
// repeat of the webhook.
func (s *Hints) announce(ctx context.Context, name string, posts []platform.ChangedPost, body []byte) error {
	sum := sha256.Sum256(body)
	seen := map[store.Key]bool{}
	for _, p := range posts[:min(len(posts), maxAnnounced)] {
		key := item.PostKey(name, p.Account, p.Post)
		if seen[key] || len(p.Account)+len(p.Post) > 500 {
			continue
		}
		seen[key] = true
		if err := s.wake(ctx, key, hex.EncodeToString(sum[:12])); err != nil {
			return err
		}
	}
	return nil
}

// wake has the comments on the post at a key read now. The argument version names the webhook.
func (s *Hints) wake(ctx context.Context, key store.Key, version string) error {
	it, err := s.db.Lookup(ctx, key)
	if err != nil || it.PK == "" {
		return err
	}
	var of item.PostDocument
	if err := it.Decode(&of); err != nil {
		return err
	}
	account, err := s.db.Lookup(ctx, store.IDKey(of.Account))
	if err != nil || !social.Is(account, it.Owner) {
		return err
	}
	r, err := social.Decode(&account)
	if err != nil || !r.Usable() {
		return err
	}
	now, tx := s.now(), &store.Tx{}
	tx.CreateExpiring(store.Item{Key: store.IDKey("hook#" + of.Publication + "#" + version), Kind: "platform_hook",
		Owner: it.Owner, ExpireAt: now.Add(sameHook)}, now.Unix(), store.ErrConflict)
	if err := Wake(tx, now, it.Owner, of.Item, of.Publication); err != nil {
		return err
	}
	return s.db.CommitOnce(ctx, tx)
}
