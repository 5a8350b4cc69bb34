package content

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/social/account"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// usualPublication is the usual duration of publishing.
const usualPublication = 10 * time.Second

type scheduleBody struct {
	PublishAt *resource.Time         `json:"publish_at" nullable:"true" doc:"Time at which it is published: in the future, within 180 days. Null: it is no longer scheduled" example:"2027-01-15T09:30:00Z"`
	Accounts  []string               `json:"social_account_ids,omitempty" minItems:"1" maxItems:"15" uniqueItems:"true" nullable:"false" doc:"Ids of the social accounts to publish to. Absent: those that it is scheduled to, or else those of its factory"`
	Options   platformOptions        `json:"options,omitempty" doc:"Options of the post, by platform. Absent: those of the earlier schedule"`
	Sandbox   *item.PublishRehearsal `json:"sandbox,omitempty" doc:"Simulated result. For test keys only"`
}

type scheduleInput struct {
	ItemPath
	httpapi.IfMatch
	Body scheduleBody
}

type publishBody struct {
	Accounts []string               `json:"social_account_ids,omitempty" minItems:"1" maxItems:"15" uniqueItems:"true" nullable:"false" doc:"Ids of the social accounts to publish to. Absent: those that have failed, those that it is scheduled to, or else those of its factory"`
	Options  platformOptions        `json:"options,omitempty" doc:"Options of the post, by platform. Absent: those of the earlier schedule or attempt"`
	Sandbox  *item.PublishRehearsal `json:"sandbox,omitempty" doc:"Simulated result. For test keys only"`
}

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
			"that is already scheduled. `publish_at: null` clears all of it. Publishing begins within 60 seconds of "+
			"the time. The limits of each platform are checked now: what it does not take is refused, and what can "+
			"be adapted without harm is adapted. The limit of posts on a day counts by day in UTC. If the service "+
			"could not publish in time, it publishes late items of an account in the order of their times, unless "+
			"the account's `late_after` has passed.")
	schedule.Errors = []errs.Code{errs.NotFound, errs.VersionMismatch, errs.InvalidState, errs.QueueFull}
	httpapi.Write(r, schedule, s.schedule)

	publish := op("publishContentItem", http.MethodPost, one+"/publish", auth.ContentPublish, "Publish a content item",
		"Publishes a generated or scheduled item now, on each social account by itself. The event "+
			"`content.published` reports the end if at least one account has taken it, `content.failed` if none has. "+
			"Both show all publications. Of an item that has failed on some accounts, only those are tried again: "+
			"what an account has taken, or may have taken, is never posted twice.")
	publish.Status = http.StatusAccepted
	publish.Errors = []errs.Code{errs.NotFound, errs.VersionMismatch, errs.InvalidState, errs.QueueFull}
	httpapi.Write(r, publish, s.publish)

	list := op("listPublications", http.MethodGet, one+"/publications", auth.ContentRead,
		"List the publications of a content item",
		"One for each social account, in the order in which they were asked for. Metrics are read 1 hour, 24 hours, "+
			"7 days and 30 days after publishing.")
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.publications)
}

func (s *Service) publications(ctx context.Context, in *publicationsInput) (httpapi.Page[item.Publication], error) {
	r, _, err := s.find(ctx, in.ID)
	if err != nil {
		return httpapi.Page[item.Publication]{}, err
	}
	return httpapi.Slice(ctx, r.Publications, map[string]string{"item": r.ID}, in.SliceInput,
		func(p item.Publication) string { return p.ID })
}

func (s *Service) schedule(ctx context.Context, tx *store.Tx, in *scheduleInput) (out item.Item, err error) {
	p, now, b := auth.FromContext(ctx), s.now(), in.Body
	if err := b.check(p.Mode, now); err != nil {
		return out, err
	}
	w, err := s.publishRequest(ctx, in.ID, in.IfMatch, b.Accounts)
	if err != nil {
		return out, err
	}
	if err := w.r.Permit(item.Schedule); err != nil {
		return out, err
	}
	if b.PublishAt == nil {
		if err := publication.Clear(tx, now, p.Owner, w.r); err != nil {
			return out, err
		}
		return s.answer(ctx, tx, w)
	}
	w.options, w.param = b.Options, "/publish_at"
	targets, err := s.targets(ctx, w, w.r.SocialAccountIDs)
	if err != nil {
		return out, err
	}
	w.take(targets, b.Sandbox)
	if err := publication.Schedule(tx, now, p.Owner, w.r, targets, b.PublishAt.Time); err != nil {
		return out, err
	}
	return s.answer(ctx, tx, w)
}

// answer writes the item, and returns the changed item.
func (s *Service) answer(ctx context.Context, tx *store.Tx, w *publishRequest) (item.Item, error) {
	if err := replace(tx, w.it, w.r); err != nil {
		return item.Item{}, err
	}
	return s.view(ctx, w.r)
}

// check refuses an invalid time of publication, and parameters that need a time if there is none.
func (b *scheduleBody) check(mode tenant.Mode, now time.Time) error {
	var found []error
	switch at := b.PublishAt; {
	case at == nil:
		for param, sent := range map[string]bool{"/social_account_ids": b.Accounts != nil, "/options": b.Options != nil,
			"/sandbox": b.Sandbox != nil} {
			if sent {
				found = append(found, errs.Invalid(param, "needs a publish_at"))
			}
		}
		slices.SortFunc(found, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	case !at.After(now):
		found = append(found, errs.Invalid("/publish_at", "must be in the future. To publish now, call POST "+
			"/v1/content-items/{content_item_id}/publish"))
	case at.Sub(now) > publication.MaxAhead:
		found = append(found, errs.Invalid("/publish_at", "must be within 180 days"))
	}
	return errs.All(append(found, checkPublishRehearsal(b.Sandbox, mode))...)
}

func checkPublishRehearsal(r *item.PublishRehearsal, mode tenant.Mode) error {
	const param = "/sandbox/failure_code"
	switch {
	case r == nil:
		return nil
	case mode != tenant.Test:
		return errs.Invalid("/sandbox", "works with test keys only; leave it out with a live key")
	case r.FailureCode == "":
		return nil
	case !slices.Contains(platform.Codes(), r.FailureCode):
		var codes []string
		for _, c := range platform.Codes() {
			codes = append(codes, string(c))
		}
		return errs.Invalid(param, "must be one of %s", strings.Join(codes, ", "))
	case r.Outcome != item.PublicationFailed:
		return errs.Invalid(param, "needs outcome failed")
	}
	return nil
}

func (s *Service) publish(ctx context.Context, tx *store.Tx, in *publishInput) (out item.Item, err error) {
	p, now := auth.FromContext(ctx), s.now()
	var b publishBody
	if in.Body != nil {
		b = *in.Body
	}
	if err := checkPublishRehearsal(b.Sandbox, p.Mode); err != nil {
		return out, err
	}
	w, err := s.publishRequest(ctx, in.ID, in.IfMatch, b.Accounts)
	if err != nil {
		return out, err
	}
	if err := w.r.Permit(item.Publish); err != nil {
		return out, err
	}
	usual := w.r.SocialAccountIDs
	if len(w.asked) > 0 {
		w.asked = slices.DeleteFunc(slices.Clone(w.asked), w.taken)
	} else if w.r.State == item.Failed || w.r.State == item.Published {
		usual = nil
		for _, pub := range w.r.Publications {
			if pub.State == item.PublicationFailed {
				usual = append(usual, pub.SocialAccountID)
			}
		}
	}
	if w.r.State == item.Published && len(w.asked) == 0 && len(usual) == 0 || len(b.Accounts) > 0 && len(w.asked) == 0 {
		return out, errs.New(errs.InvalidState, "The content item is published on all these accounts.").
			With(errs.StateContext{State: string(w.r.State), Allowed: []string{string(item.Delete)}})
	}
	w.options, w.param = b.Options, "/social_account_ids"
	targets, err := s.targets(ctx, w, usual)
	if err != nil {
		return out, err
	}
	w.take(targets, b.Sandbox)
	if err := publication.Publish(tx, now, p.Owner, w.r, targets); err != nil {
		return out, err
	}
	w.r.Usual = usualPublication
	return s.answer(ctx, tx, w)
}

// publishRequest is a request to publish an item.
type publishRequest struct {
	r       *item.Record
	it      store.Item
	asked   []string              // ids of the accounts in the call
	read    map[string]store.Item // items that were read, by the ids of accounts
	options platformOptions
	param   string // parameter with the time or the accounts, for errors
}

// publishRequest reads the item and the accounts of the call in one round trip.
func (s *Service) publishRequest(ctx context.Context, itemID string, match httpapi.IfMatch,
	accounts []string) (*publishRequest, error) {
	w := &publishRequest{asked: accounts, read: map[string]store.Item{}}
	var known []string
	var keys []store.Key
	for _, accountID := range accounts {
		if id.Valid(id.SocialAccount, accountID) {
			known, keys = append(known, accountID), append(keys, store.IDKey(accountID))
		}
	}
	found, beside, err := resource.FindAll(ctx, s.db, id.ContentItem, []string{itemID}, keys...)
	if err != nil {
		return nil, err
	}
	it, ok := found[itemID]
	if !ok {
		return nil, errs.Missing("content item", itemID)
	}
	for i, accountID := range known {
		w.read[accountID] = beside[i]
	}
	w.it = it
	if w.r, err = item.Decode(&it); err != nil {
		return nil, err
	}
	return w, match.Check(w.r.Version)
}

// taken reports whether an account has taken the item.
func (w *publishRequest) taken(accountID string) bool {
	pub := w.r.PublicationTo(accountID)
	return pub != nil && pub.State == item.PublicationPublished
}

// take notes the accounts to which the item is published, and the requested result.
func (w *publishRequest) take(targets []publication.Target, rehearsal *item.PublishRehearsal) {
	if w.r.State != item.Published && w.r.State != item.Failed {
		w.r.SocialAccountIDs = []string{}
	}
	for _, t := range targets {
		if !slices.Contains(w.r.SocialAccountIDs, t.Account.ID) {
			w.r.SocialAccountIDs = append(w.r.SocialAccountIDs, t.Account.ID)
		}
	}
	w.r.Rehearsed = rehearsal
}

// targets returns the accounts of a request, and rejects an item that their platforms do not take. If
// the call names no accounts, they are the usual accounts, or else those of the factory.
func (s *Service) targets(ctx context.Context, w *publishRequest,
	usual []string) (all []publication.Target, err error) {
	ids := w.asked
	if len(ids) == 0 {
		if ids, err = s.usual(ctx, w, usual); err != nil {
			return nil, err
		}
	}
	p := auth.FromContext(ctx)
	var found []error
	chosen := map[string]bool{}
	for i, accountID := range ids {
		param := "/social_account_ids/" + strconv.Itoa(i)
		if len(w.asked) == 0 {
			param = "/social_account_ids"
		}
		it := w.read[accountID]
		if !account.Is(it, p.Owner) {
			e := errs.Missing("social account", accountID)
			e.Param = param
			return nil, e
		}
		acct, err := account.Decode(&it)
		if err != nil {
			return nil, err
		}
		adapter, ok := s.platforms.Of(p.Mode, acct.Platform)
		if !ok {
			return nil, fmt.Errorf("content: no platform %q", acct.Platform)
		}
		if !acct.Usable() {
			found = append(found, errs.Invalid(param, "the account %s is %s, not connected: connect it first",
				accountID, acct.State))
			continue
		}
		chosen[acct.Platform] = true
		options, sent := w.options[acct.Platform]
		if pub := w.r.PublicationTo(accountID); !sent && pub != nil {
			options = pub.Options
		}
		label := adapter.Capabilities().Label
		all = append(all, publication.Target{Account: acct, Limits: adapter.Capabilities(), Options: options,
			Full: func(day string, most int) error {
				return errs.Invalid(w.param, "%s takes %d posts a day on one account, and %s has as many on %s (UTC): "+
					"choose another day", label, most, accountID, day)
			}})
	}
	for name := range w.options {
		if !chosen[name] && len(found) == 0 {
			found = append(found, errs.Invalid("/options/"+name, "is for a platform that none of the accounts is of"))
		}
	}
	slices.SortStableFunc(found, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	if details := publication.Check(w.r, all); len(details) > 0 {
		found = append(found, errs.InvalidFields(details...))
	}
	return all, errs.All(found...)
}

// usual reads and returns the accounts for a call that names none.
func (s *Service) usual(ctx context.Context, w *publishRequest, ids []string) ([]string, error) {
	if len(ids) == 0 {
		factories, _, err := s.factories.FindAll(ctx, []string{w.r.FactoryID})
		if err != nil {
			return nil, err
		}
		ids = factories[w.r.FactoryID].SocialAccountIDs
	}
	if len(ids) == 0 {
		return nil, errs.Invalid("/social_account_ids", "is required, as the factory has no social accounts: attach "+
			"some, or name them")
	}
	keys := make([]store.Key, len(ids))
	for i, accountID := range ids {
		keys[i] = store.IDKey(accountID)
	}
	items, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	for i, accountID := range ids {
		w.read[accountID] = items[i]
	}
	return ids, nil
}
