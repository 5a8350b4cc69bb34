package item

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// AutoPublish is the kind of the task that publishes an item automatically after it is generated.
// Package publication has its handler.
const AutoPublish task.Kind = "publish.auto"

// autoPublish adds that task to the transaction if the item is to be published automatically.
func (r *Record) autoPublish(tx *store.Tx, now time.Time, o tenant.Owner) error {
	// The factory of a plan may have turned automatic publishing on since.
	wanted := r.Automatic || r.RequestedSchedule != nil || r.Item.ContentPlanID != nil
	if !wanted || r.withheld() {
		return nil
	}
	return r.startAutoPublish(tx, now, o, task.ID(AutoPublish, r.Item.ID, r.Item.Attempt))
}

// PublishPlanned adds the task to the transaction for an item of a content plan that is generated and whose time is
// ahead. The argument once distinguishes the task from earlier ones.
func (r *Record) PublishPlanned(tx *store.Tx, now time.Time, o tenant.Owner, once string) error {
	if r.Item.ContentPlanID == nil || r.Item.State != Generated || r.withheld() || r.Item.PublishAt == nil ||
		!r.Item.PublishAt.After(now) {
		return nil
	}
	return r.startAutoPublish(tx, now, o, task.ID(AutoPublish, r.Item.ID+"#"+once, r.Item.Attempt))
}

// GoOn adds the task to the transaction that publishes, as it was requested, an item that has waited for its product.
func (r *Record) GoOn(tx *store.Tx, now time.Time, o tenant.Owner) error {
	return r.startAutoPublish(tx, now, o, task.ID(AutoPublish, r.Item.ID+"#product#"+
		strconv.FormatInt(r.Item.Version, 10), r.Item.Attempt))
}

func (r *Record) startAutoPublish(tx *store.Tx, now time.Time, o tenant.Owner, taskID string) error {
	r.NotPublished = ""
	return task.Create(tx, now, task.Task{Message: task.Message{
		ID: taskID, Kind: AutoPublish, Queue: topology.Publish, Subject: r.Item.ID, Owner: o,
	}}, struct{}{})
}

// PublishFor makes the caller the authority of the item's publication.
func (o *Outlets) PublishFor(p *auth.Principal) { o.Authority = authority.Of(p, auth.ContentPublish) }

// GoesOut reports whether the item is to be published without a further call.
func (r *Record) GoesOut() bool {
	if r.Item.State == Scheduled {
		return true
	}
	wanted := r.Automatic || r.RequestedSchedule != nil || r.Item.ContentPlanID != nil && r.Item.PublishAt != nil
	return wanted && !r.withheld() && (r.Item.Runs() || r.Item.State == Generated && r.RequestedSchedule != nil)
}

// Begin notes that publishing has begun.
func (r *Record) Begin(tx *store.Tx, now time.Time) error {
	before := r.Counts()
	if err := r.Item.Move(Publishing); err != nil {
		return err
	}
	r.Item.Failure = nil
	r.Item.Touch(now)
	r.Count(tx, now, before)
	return nil
}

// EndPublishing ends the publishing of an item when none of its publications is under way. The item is published if at
// least one of them is published. Of two publications that end at the same moment, one commit fails, as the other is
// no longer under way: the one that is tried again ends the item.
func (r *Record) EndPublishing(tx *store.Tx, o tenant.Owner, now time.Time) error {
	r.Item.Touch(now)
	var first *Publication
	for i, p := range r.Item.Publications {
		switch {
		case p.State == PublicationPending || p.State == PublicationPublishing:
			r.was.awaits = p.SocialAccountID
			return nil
		case p.PublishedAt != nil && (first == nil || p.PublishedAt.Before(first.PublishedAt.Time)):
			first = &r.Item.Publications[i]
		}
	}
	before := r.Counts()
	defer func() { r.Count(tx, now, before) }()
	if first != nil {
		if r.Item.PublishedAt == nil {
			at := *first.PublishedAt
			r.Item.PublishedAt = &at
		}
		return errors.Join(r.Item.Move(Published), r.Notify(tx, o, event.ContentPublished))
	}
	if err := r.Item.Move(Failed); err != nil {
		return err
	}
	r.Item.Failure = r.Item.publishFailure()
	return r.Notify(tx, o, event.ContentFailed)
}

// publishFailure returns the failure of an item that no account has taken, which is the failure of
// the first publication.
func (r *Item) publishFailure() *Failure {
	f := &Failure{Stage: "publish", Code: provider.FailureCode(FailedTimeout),
		Message: "It was published to no account."}
	for i, p := range slices.Backward(r.Publications) {
		if p.Failure != nil {
			f.Code, f.Message = provider.FailureCode(p.Failure.Code), "It was published to no account. "+p.Platform+
				": "+p.Failure.Message
			f.Retryable = f.Retryable || r.Publications[i].Failure.Retryable
		}
	}
	return f
}
