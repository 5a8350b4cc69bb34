package content

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

// usualPublication is the usual duration of publishing.
const usualPublication = 10 * time.Second

// Outlets are where and how an item is published.
type Outlets struct {
	// Ids of the social accounts to publish to. Absent: those that have failed, those that it is scheduled to, or else
	// those of its factory, without those that cannot publish it.
	Accounts []string `json:"social_account_ids,omitempty" format:"accounts" nullable:"false"`
	// Options of the post, by platform. Absent: those of the earlier schedule or attempt.
	Options platformOptions `json:"options,omitempty"`
	// Simulated result. For test keys only.
	Sandbox *item.PublishRehearsal `json:"sandbox,omitempty"`
}

type scheduleBody struct {
	// Time at which it is published: in the future, within 180 days; or next_slot, the next time of the schedule of its
	// factory that is free on the accounts. Absent: the time that it has, such as that of its content plan. Null: it is
	// no longer scheduled.
	PublishAt *publishTime `json:"publish_at,omitempty" nullable:"true" example:"2027-01-15T09:30:00Z"`
	Outlets
}

type scheduleInput struct {
	ItemPath
	httpapi.IfMatch
	Body *scheduleBody
}

type publishBody struct{ Outlets }

type publishInput struct {
	ItemPath
	httpapi.IfMatch
	Body *publishBody
}

type publicationsInput struct {
	ItemPath
	httpapi.SliceInput
}

// registerPublishing adds the operations that publish items to the router.
func (s *Service) registerPublishing(r *httpapi.Router) {
	const one = "/v1/content-items/{content_item_id}"
	schedule := op("scheduleContentItem", http.MethodPost, one+"/schedule", auth.ContentPublish,
		"Schedule a content item",
		"Sets the time at which a generated item is published, and the social accounts, options and time of an item "+
			"that is already scheduled. An item of a content plan has a time: without a body it is scheduled for that "+
			"time, on the accounts of its factory. Accounts of the factory that cannot publish it are left out and "+
			"listed in `omitted_accounts`. `publish_at: null` clears all of it. Publishing begins within 60 seconds "+
			"of the time. The limits of each platform are checked now: what it does not take is refused, and what "+
			"can be adapted without harm is adapted. The limit of posts on a day counts by day in UTC. If the "+
			"service could not publish in time, it publishes late items of an account in the order of their times, "+
			"unless the account's `late_after_seconds` has passed. If the factory requires an approval, an item without it "+
			"keeps the time and is scheduled when it is approved.").Opening(httpapi.Publishing)
	schedule.Errors = []errs.Code{errs.NotFound, errs.VersionMismatch, errs.InvalidState, errs.QueueFull,
		errs.RuleViolated}
	httpapi.Write(r, schedule, s.schedule)

	publish := op("publishContentItem", http.MethodPost, one+"/publish", auth.ContentPublish, "Publish a content item",
		"Publishes a generated or scheduled item now, on each social account by itself. The event "+
			"`content.published` reports the end if at least one account has taken it, `content.failed` if none has. "+
			"Both show all publications. Of an item that has failed on some accounts, only those are tried again: "+
			"what an account has taken, or may have taken, is never posted twice.").Opening(httpapi.Publishing)
	publish.Status = http.StatusAccepted
	publish.Errors = []errs.Code{errs.NotFound, errs.VersionMismatch, errs.InvalidState, errs.QueueFull,
		errs.RuleViolated}
	httpapi.Write(r, publish, s.publish)

	list := op("listPublications", http.MethodGet, one+"/publications", auth.ContentRead,
		"List the publications of a content item",
		"One for each social account, in the order in which they were asked for. Metrics are read 1 hour, 24 hours, "+
			"7 days and 30 days after publishing.").Opening(httpapi.Nothing)
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.publications)
}

func (s *Service) publications(ctx context.Context, in *publicationsInput) (httpapi.Page[item.Publication], error) {
	r, _, err := s.find(ctx, in.ID)
	if err != nil {
		return httpapi.Page[item.Publication]{}, err
	}
	return httpapi.Slice(ctx, r.Item.Publications, map[string]string{"item": r.Item.ID}, in.SliceInput,
		func(p item.Publication) string { return p.ID })
}

func (s *Service) schedule(ctx context.Context, tx *store.Tx, in *scheduleInput) (out item.Item, err error) {
	var b scheduleBody
	if in.Body != nil {
		b = *in.Body
	}
	sent, named := httpapi.Patched(ctx)["publish_at"]
	return publisher{s}.schedule(ctx, tx, in.ID, in.IfMatch, b, named && !sent)
}

// publisher changes when and where one item is published.
type publisher struct{ *Service }

// schedule schedules an item, or clears its schedule.
func (s publisher) schedule(ctx context.Context, tx *store.Tx, itemID string, match httpapi.IfMatch, b scheduleBody,
	clear bool) (out item.Item, err error) {
	p, now := auth.FromContext(ctx), s.now()
	clock, err := s.clock(ctx)
	if err != nil {
		return out, err
	}
	w, err := s.publishRequest(ctx, itemID, match, b.Accounts)
	if err != nil {
		return out, err
	}
	r := w.gate.Record
	if err := b.check(p.Mode, clock, clear); err != nil {
		return out, err
	}
	if clear {
		if err := r.Item.Permit(item.Schedule); err != nil {
			return out, err
		}
		var happened []event.Type
		if r.Item.PublishAt != nil || r.Ordered != nil {
			happened = append(happened, event.ContentUnscheduled)
		}
		if err := publication.Clear(tx, now, w.it.Owner, r); err != nil {
			return out, err
		}
		return s.answer(ctx, tx, w.it, r, happened...)
	}
	at, err := planned(b.PublishAt, r, clock)
	if err != nil {
		return out, cmp.Or(r.Item.Permit(item.Schedule), err)
	}
	w.options, w.gate.Action, w.gate.At, w.gate.TimeParam = b.Options, item.Schedule, at, "/publish_at"
	next := b.PublishAt != nil && b.PublishAt.Next
	if next {
		w.gate.At, w.gate.Any = clock, true
	}
	targets, err := w.targets(ctx, r.Item.SocialAccountIDs)
	if err != nil {
		return out, err
	}
	if next {
		if at, err = s.enqueue(ctx, tx, w.it.Owner, r, targets, clock); err != nil {
			return out, err
		}
	}
	w.take(targets, b.Sandbox)
	r.PublishFor(p)
	if w.waits {
		publication.Await(tx, now, w.it.Owner, r, targets, at)
		return s.answer(ctx, tx, w.it, r, event.ContentUpdated)
	}
	if err := publication.Schedule(tx, now, w.it.Owner, r, targets, at); err != nil {
		return out, err
	}
	if err := publication.WarnOfOthers(ctx, s.db, r, at); err != nil {
		return out, err
	}
	return s.answer(ctx, tx, w.it, r, event.ContentScheduled)
}

// planned returns the time of a call, or else the time that the item has.
func planned(asked *publishTime, r *item.Record, now time.Time) (time.Time, error) {
	switch {
	case asked != nil:
		return asked.Time.Time, nil
	case r.Item.PublishAt == nil:
		return time.Time{}, errs.Invalid("/publish_at", "is required, as the item has no planned time. Send a time in "+
			"the future")
	case !r.Item.PublishAt.After(now):
		return time.Time{}, errs.Invalid("/publish_at", "is required, as the planned time of the item, %s, is past. "+
			"Send a time in the future, or call POST /v1/content-items/{content_item_id}/publish",
			r.Item.PublishAt.UTC().Format(time.RFC3339))
	}
	return r.Item.PublishAt.Time, checkAhead(r.Item.PublishAt.Time, now)
}

// checkAhead refuses a time of publication in the past, or too far ahead.
func checkAhead(at, now time.Time) error {
	switch {
	case !at.After(now):
		return errs.Invalid("/publish_at", "must be in the future. To publish now, call POST "+
			"/v1/content-items/{content_item_id}/publish")
	case at.Sub(now) > publication.MaxAhead:
		return errs.Invalid("/publish_at", "must be within 180 days")
	}
	return nil
}

// check refuses an invalid time of publication, and parameters that make no sense if the time is cleared.
func (b *scheduleBody) check(mode tenant.Mode, now time.Time, clear bool) error {
	var found []error
	if clear {
		for param, sent := range map[string]bool{"/social_account_ids": b.Accounts != nil, "/options": b.Options != nil,
			"/sandbox": b.Sandbox != nil} {
			if sent {
				found = append(found, errs.Invalid(param, "needs a publish_at"))
			}
		}
		slices.SortFunc(found, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	} else if b.PublishAt != nil {
		found = append(found, b.PublishAt.check(now))
	}
	return errs.All(append(found, checkPublishRehearsal(b.Sandbox, mode))...)
}

func checkPublishRehearsal(r *item.PublishRehearsal, mode tenant.Mode) error {
	const param = "/sandbox/failure_code"
	switch {
	case r == nil:
		return nil
	case mode != tenant.Test:
		return httpapi.CheckSandbox(true, mode)
	case r.FailureCode == "":
		return nil
	case !slices.Contains(platform.Codes(), r.FailureCode):
		var codes []string
		for _, c := range platform.Codes() {
			codes = append(codes, string(c))
		}
		return errs.Invalid(param, "%s", text.NotOneOf(string(r.FailureCode), codes))
	case r.Outcome != item.PublicationFailed:
		return errs.Invalid(param, "needs outcome failed")
	}
	return nil
}

func (s *Service) publish(ctx context.Context, tx *store.Tx, in *publishInput) (out item.Item, err error) {
	var b Outlets
	if in.Body != nil {
		b = in.Body.Outlets
	}
	return publisher{s}.publish(ctx, tx, in.ID, in.IfMatch, b)
}

// publish begins to publish an item now.
func (s publisher) publish(ctx context.Context, tx *store.Tx, itemID string, match httpapi.IfMatch,
	b Outlets) (out item.Item, err error) {
	p, now := auth.FromContext(ctx), s.now()
	if err := checkPublishRehearsal(b.Sandbox, p.Mode); err != nil {
		return out, err
	}
	w, err := s.publishRequest(ctx, itemID, match, b.Accounts)
	if err != nil {
		return out, err
	}
	r := w.gate.Record
	w.options, w.gate.Action, w.gate.TimeParam = b.Options, item.Publish, "/social_account_ids"
	if w.gate.At, err = s.clock(ctx); err != nil {
		return out, err
	}
	usual := r.Item.SocialAccountIDs
	if left := slices.DeleteFunc(slices.Clone(w.asked), w.taken); len(left) > 0 {
		w.asked = left
	} else if len(w.asked) == 0 && (r.Item.State == item.Failed || r.Item.State == item.Published) {
		failed := []string{}
		for _, pub := range r.Item.Publications {
			if pub.State == item.PublicationFailed {
				failed = append(failed, pub.SocialAccountID)
			}
		}
		if r.Item.State == item.Failed || len(failed) > 0 {
			usual = failed
		}
	}
	targets, err := w.targets(ctx, usual)
	if err != nil {
		return out, err
	}
	w.take(targets, b.Sandbox)
	r.PublishFor(p)
	if err := publication.Publish(tx, now, w.it.Owner, r, targets); err != nil {
		return out, err
	}
	r.Item.Usual = usualPublication
	return s.answer(ctx, tx, w.it, r)
}
