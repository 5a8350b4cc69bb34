package publication

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Alter is the kind of the task that changes or deletes a published post. A post has one change at a time, and each
// call of the platform may be repeated: a lost answer is followed by the same call.
const Alter task.Kind = "publish.change"

// ChangeWithin bounds the duration of a change that somebody waits for, and amendWithin that of one by a feed: the
// limits of platforms last for up to a day.
const (
	ChangeWithin = time.Hour
	amendWithin  = 26 * time.Hour
)

// altering is the payload of an Alter task.
type altering struct {
	Publication string `json:"publication"`
	Number      int    `json:"number"`
}

// Change adds a change of a published post, which fails after some time, to the transaction. The caller writes the
// item.
func Change(tx *store.Tx, now time.Time, o tenant.Owner, r *item.Record, pub *item.Publication,
	limits platform.Capabilities, kind string, caption *string, within time.Duration) error {
	refuse := func(format string, args ...any) error {
		return errs.New(errs.InvalidState, format, args...).In(pub.State)
	}
	switch {
	case pub.State != item.PublicationPublished:
		return refuse("The publication is %s. Only published posts can be changed or deleted.", pub.State)
	case pub.Change != nil && pub.Change.State == item.ChangePending:
		return refuse("A change of the post is under way. Wait until it has ended.")
	case kind == item.ChangeEdit && !limits.Edits:
		return refuse("%s does not let applications change the text of posts. Change it on the platform.", limits.Label)
	case kind == item.ChangeDelete && !limits.Deletes:
		return refuse("%s does not let applications delete posts. Delete it on the platform.", limits.Label)
	case pub.PlatformPostID == nil || pub.Posted == nil:
		return refuse("%s has not reported the id of the post, so it can only be changed there.", limits.Label)
	}
	if caption != nil {
		noticed := item.WithNotices(r, *caption, pub.Platform)
		caption = &noticed
		if err := fitsEdit(r, pub, *caption, limits); err != nil {
			return err
		}
	}
	pub.Change = &item.PublicationChange{Kind: kind, State: item.ChangePending, Text: caption,
		At: resource.Instant(now)}
	pub.Posting.Changes++
	pub.Touch(now)
	r.Item.Touch(now)
	return task.Create(tx, now, task.Task{
		Message: task.Message{ID: task.ID(Alter, pub.ID, pub.Posting.Changes), Kind: Alter, Queue: topology.Publish,
			Subject: r.Item.ID, Owner: o},
		Deadline: now.Add(within),
	}, altering{Publication: pub.ID, Number: pub.Posting.Changes})
}

// fitsEdit refuses a new text that the platform does not take.
func fitsEdit(r *item.Record, pub *item.Publication, caption string, limits platform.Capabilities) error {
	own := options(pub, limits)
	rule := limits.Rule(platform.Post{Kind: platform.Kind(r.Item.Kind), Options: platform.Options{Own: own}})
	limit := rule.Caption
	if files, _ := r.PostedFiles(); len(files) == 0 && rule.Rest.Max > 0 {
		limit = rule.Rest
	}
	if n := limit.Length(caption); n > limit.Max {
		return errs.Invalid("/caption", "%s takes up to %d %s here; there are %d", limits.Label, limit.Max,
			limit.Unit.Name(), n)
	}
	return nil
}

// of returns the publication that the task changes, or nil if the change has ended.
func (p altering) of(r *item.Record) *item.Publication {
	if r == nil {
		return nil
	}
	pub := r.Item.Publication(p.Publication)
	if pub == nil || pub.Change == nil || pub.Change.State != item.ChangePending ||
		pub.Posting.Changes != p.Number {
		return nil
	}
	return pub
}

// alter changes or deletes a published post. A call may be repeated, so that a lost answer is followed by the same
// call.
func (w *Worker) alter(ctx context.Context, r *task.Run) error {
	var p altering
	if err := r.Decode(&p); err != nil {
		return err
	}
	_, of, _, err := w.read(ctx, r.Step)
	if err != nil {
		return task.Again(err)
	}
	pub := p.of(of)
	if pub == nil {
		return nil
	}
	a, err := w.visits().Visit(ctx, r, pub.SocialAccountID, social.ForChanging)
	if err != nil {
		return err
	}
	err = a.Call(ctx, func(ctx context.Context, token platform.Account) error {
		if err := r.Lease(ctx, nil); err != nil { // so that two workers do not send different changes
			return err
		}
		return send(ctx, a.Adapter, token, of, pub)
	})
	if task.Waits(err) {
		return err
	}
	var f *item.PublicationFailure
	var e *platform.Error
	switch {
	case err == nil:
	case r.Cause() == nil && errors.As(err, &e):
		f = refusal(e, platform.Ended(e))
	default:
		f = failure(string(platform.CodeOutcomeUnknown), "The platform did not confirm the change in time. Look at "+
			"the post, and repeat the change if it is needed.", true)
	}
	return r.End(func(ctx context.Context, tx *store.Tx) error {
		it, of, beside, err := w.read(ctx, r.Step, item.ReadingsKey(p.Publication))
		if err != nil {
			return err
		}
		pub := p.of(of)
		if pub == nil {
			return nil
		}
		if err := w.altered(tx, r.Owner, of, pub, f, a.Limits(), beside[0]); err != nil {
			return err
		}
		return item.Replace(tx, it, of)
	})
}

// Placed returns a published post of an item of a kind, with the number of its messages or posts.
func Placed(kind platform.Kind, pub *item.Publication, limits platform.Capabilities) (platform.PlacedPost, error) {
	post := platform.PlacedPost{PublishedPost: platform.PublishedPost{ID: *pub.PlatformPostID}, Parts: 1}
	if pub.URL != nil {
		post.URL = *pub.URL
	}
	c := pub.Posted
	if c == nil {
		return post, nil
	}
	post.Media = len(c.MediaIDs)
	if c.Rest != "" {
		post.Parts = 2
		return post, nil
	}
	whole := platform.Post{Kind: kind, Caption: string(c.Text), Media: make([]platform.Media, len(c.MediaIDs))}
	if pub.Options != nil {
		var err error
		if whole.Options, _, err = limits.Wishes(pub.Options.RawMessage); err != nil {
			return post, err
		}
		post.Options = whole.Options
	}
	post.Parts = platform.Arrange(whole, limits).Parts()
	return post, nil
}

// send makes the call of a change.
func send(ctx context.Context, adapter platform.Adapter, token platform.Account, r *item.Record,
	pub *item.Publication) error {
	post, err := Placed(platform.Kind(r.Item.Kind), pub, adapter.Capabilities())
	if err != nil {
		return err
	}
	post.More = pub.Posting.More
	if pub.Change.Kind == item.ChangeDelete {
		if d, ok := adapter.(platform.Deleter); ok {
			return d.Delete(ctx, token, post)
		}
		return platform.Unsupported("the deletion of posts")
	}
	if d, ok := adapter.(platform.Editor); ok {
		return d.Edit(ctx, token, post, *pub.Change.Text)
	}
	return platform.Unsupported("changes of posts")
}

// altered ends the change of a publication, which is done, or has failed.
func (w *Worker) altered(tx *store.Tx, o tenant.Owner, r *item.Record, pub *item.Publication,
	f *item.PublicationFailure, limits platform.Capabilities, readings store.Item) error {
	now, done := w.Now(), *pub.Change
	done.State, done.Failure = item.ChangeDone, f
	if f != nil {
		done.State = item.ChangeFailed
	}
	pub.Change = &done
	pub.Touch(now)
	r.Item.Touch(now)
	switch {
	case f != nil:
	case done.Kind == item.ChangeDelete:
		pub.State = item.PublicationDeleted
		post, err := pub.Shown(r.Item.FactoryID, limits, readings)
		if err != nil {
			return err
		}
		if err := event.Add(tx, now, o, event.PublicationDeleted, post); err != nil {
			return err
		}
	case pub.Posted != nil:
		content := *pub.Posted
		content.Text = resource.Text(*done.Text)
		pub.Posted = &content
		if pub.Posting.AmendedBy == pub.Posting.Changes {
			pub.Posting.Shown = pub.Posting.Amended
			r.Item.Outdated = r.Outdated()
		}
		return r.Notify(tx, o, event.ContentUpdated)
	}
	return nil
}
