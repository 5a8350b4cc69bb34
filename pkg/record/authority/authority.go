// Package authority records with whose rights something acts later, when nobody calls: an automation, the mapping of an
// integration, a review link, a scheduled publication. The principal who last gave it its content is its authority.
// What it does is checked against what that principal may do at that time: a key that has ended, a person who was
// removed, and a scope that either has lost permit nothing any more. Start with Authority.
package authority

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/tenant"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/store"
)

// Authority is the principal with whose rights something acts later. It is a member of the stored document of what
// acts, and Kinds lists all such documents.
type Authority struct {
	Actor auth.Actor `json:"actor"`
	// Role is the role of a person, at that time.
	Role auth.Role `json:"role,omitempty"`
	// Scopes are those that the principal had when it gave the content. Scopes that it gets later do not count.
	Scopes []auth.Scope `json:"scopes,omitempty"`
	// Mandate is the id of the mandate under which a key gave the content, for the audit log. Empty: it had none.
	Mandate string `json:"mandate,omitempty"`
}

// Of returns the authority of a caller. If scopes are named, it keeps those alone, so that the document stays small.
func Of(p *auth.Principal, only ...auth.Scope) Authority {
	a := Authority{Actor: p.Actor, Role: p.Role, Scopes: slices.Clone(p.Scopes), Mandate: p.MandateID()}
	if len(only) > 0 {
		a.Scopes = slices.DeleteFunc(a.Scopes, func(s auth.Scope) bool { return !slices.Contains(only, s) })
	}
	return a
}

// OfPerson returns the authority of a person for what their role decides.
func OfPerson(personID string, role auth.Role) Authority {
	return Authority{Actor: auth.Actor{Kind: auth.Person, ID: personID}, Role: role}
}

// Operator returns the authority of the operator's command, which does not end.
func Operator() Authority {
	return Authority{Actor: auth.Actor{Kind: auth.Operator, ID: "operator"}, Role: auth.Owner, Scopes: auth.AllScopes()}
}

// Had reports whether the principal had a scope when it gave the content.
func (a Authority) Had(s auth.Scope) bool { return slices.Contains(a.Scopes, s) }

// Key returns the key of the item of the principal in an account, which Principal takes.
func (a Authority) Key(account tenant.Account) store.Key {
	return credential.KeyOf(account, a.Actor.ID)
}

// Code is the code of the failure of something whose authority has ended.
const Code = "authority_ended"

// EndedError reports that the principal may do nothing any more. It is a refusal, which callers see.
type EndedError struct {
	Actor auth.Actor
	// Reason completes the sentence that begins with the id of the actor.
	Reason string
}

// Error returns the public message, which says what to do.
func (e *EndedError) Error() string {
	return e.Actor.ID + " " + e.Reason + ", so that nothing is done on its behalf any more."
}

// Principal returns the principal as which something of an owner acts at a time, with the rights of that time. The
// holder is the item of Key, which is the zero Item if there is none. Principal returns an EndedError if the principal
// has no rights any more. A key's limit of spending is that of today.
func (a Authority) Principal(holder store.Item, o tenant.Owner, now time.Time) (*auth.Principal, error) {
	p := &auth.Principal{Owner: o, Actor: a.Actor}
	var may []auth.Scope
	switch ended := func(reason string) error { return &EndedError{a.Actor, reason} }; {
	case a.Actor.Kind == auth.Operator:
		may, p.Role = a.Scopes, a.Role
	case holder.Kind == "":
		return nil, ended("does not exist any more")
	case a.Actor.Kind == auth.APIKey:
		k, err := keyrecord.Read(&holder, now)
		switch {
		case err != nil:
			return nil, err
		case k.State == keyrecord.Expired:
			return nil, ended("has expired")
		case k.State != keyrecord.Active:
			return nil, ended("was revoked")
		case len(k.ProfileIDs) > 0 && !slices.Contains(k.ProfileIDs, o.Profile):
			return nil, ended("is bound to other profiles")
		}
		may, p.SpendLimit, p.Mandate = k.Scopes, k.SpendLimit, k.Mandate.Terms()
	default:
		r, err := person.Read(&holder, now)
		switch {
		case err != nil:
			return nil, err
		case r.State != person.Active:
			return nil, ended("is not a person of the account any more")
		}
		may, p.Role = r.Role.Scopes(), r.Role
	}
	p.Scopes = slices.DeleteFunc(slices.Clone(a.Scopes), func(s auth.Scope) bool { return !slices.Contains(may, s) })
	if o.Profile != "" {
		p.Bind([]tenant.Profile{o.Profile})
	}
	return p, a.mandated(p, now)
}

// mandated applies the mandates of a principal, and returns an EndedError if one has ended.
func (a Authority) mandated(p *auth.Principal, now time.Time) error {
	p.Withhold()
	if p.RequireMandate(now) != nil {
		return &EndedError{a.Actor, "has a mandate that has ended"}
	}
	return nil
}

// Holder is the principal of an authority, with the item that its rights were read from.
type Holder struct {
	*auth.Principal
	holder store.Item
}

// Hold makes the transaction of the act fail with store.ErrConflict if the rights have changed since they were read.
func (h Holder) Hold(tx *store.Tx) {
	if h.holder.Kind != "" {
		tx.Unchanged(h.holder)
	}
}

// Find reads the principal of an authority. It returns an EndedError as Principal does.
func (a Authority) Find(ctx context.Context, db *store.DB, o tenant.Owner, now time.Time) (h Holder, err error) {
	if h.holder, err = db.Get(ctx, a.Key(o.Account)); err != nil && !errors.Is(err, store.ErrNotFound) {
		return h, err
	}
	if h.Principal, err = a.Principal(h.holder, o, now); err != nil || a.Actor.Kind != auth.APIKey {
		return h, err
	}
	var k keyrecord.Record
	if err := h.holder.Decode(&k); err != nil {
		return h, err
	}
	if h.Makers, _, err = keyrecord.MakersOf(ctx, db, o.Account, k.Makers); err != nil {
		return h, err
	}
	return h, a.mandated(h.Principal, now)
}

// Lacks returns an EndedError if the principal lacks a scope by now, and otherwise nil.
func Lacks(p *auth.Principal, s auth.Scope) error {
	if p.Has(s) {
		return nil
	}
	return &EndedError{p.Actor, "does not have the scope " + string(s)}
}

// Consent is the part of a stored document that waits for consent: access that its owner may still grant. Package
// area/consent makes it. It is kept here because workers read such documents, and serve no HTTP.
type Consent struct {
	// Nonce is the hash of the nonce in the state.
	Nonce []byte `json:"nonce"`
	// Until is when the link ends.
	Until time.Time `json:"until"`
	// SealedCallback is the data of the callback, encrypted, with the Authority that asked for the access.
	SealedCallback []byte `json:"sealed"`
}

// Kind describes one kind of thing that acts later.
type Kind struct {
	// Name is what callers call it.
	Name string
	// Document is the type that keeps its Authority, as the path of its package below the module and its name.
	Document string
	// Item is the kind of the item that holds the document. It is empty if the document is sealed inside of another.
	Item string
	// Acts says what it does when nobody calls.
	Acts string
	// RequiredScopes are the scopes that the authority must have when it acts.
	RequiredScopes []auth.Scope
	// Content are the members of the document that decide what it does. Who changes one becomes the authority.
	Content []string
	// Changes are the operations that change one.
	Changes []string
	// EndEffect says what becomes of it when the authority has ended.
	EndEffect string
}

// Kinds lists all kinds of things that act later. Package verify/authority compares it with the code: each type that
// keeps an Authority has a row.
var Kinds = []Kind{
	{Name: "automation", Document: "pkg/area/automation.Record", Item: "automation",
		Acts: "makes content items, which may be published", RequiredScopes: []auth.Scope{auth.ContentWrite},
		Content:   []string{"trigger", "template", "utm", "max_per_day"},
		Changes:   []string{"createAutomation", "updateAutomation"},
		EndEffect: "`failed` with `authority_ended`, and the event `automation.failed`"},
	{Name: "experiment", Document: "pkg/area/content/experiment.Record", Item: "experiment",
		Acts: "changes its factory as its result says, with " +
			"auto_apply", RequiredScopes: []auth.Scope{auth.FactoriesWrite},
		Content: []string{"factors", "auto_apply"}, Changes: []string{"createExperiment"},
		EndEffect: "its result stays, and is applied by people alone"},
	{Name: "feed", Document: "pkg/area/feed.Record", Item: "feed",
		Acts:           "changes the catalog of its factory, and withdraws content that shows an old price",
		RequiredScopes: []auth.Scope{auth.ProductsWrite},
		Content:        []string{"source", "format", "mapping", "on_price_change", "on_sold_out", "on_removed"},
		Changes:        []string{"setFeed", "syncFeed"},
		EndEffect:      "its runs fail with `authority_ended`, and the catalog stays as it is"},
	{Name: "import", Document: "pkg/area/transfer.importRecord", Item: "import",
		Acts:           "creates the resources of an export, in states in which they do nothing",
		RequiredScopes: []auth.Scope{auth.AccountManage}, Changes: []string{"createImport"},
		EndEffect: "`failed` with `authority_ended`; what was imported stays"},
	{Name: "integration with a CRM", Document: "pkg/area/crm.Record", Item: "integration",
		Acts: "imports products and makes content items of deals", RequiredScopes: []auth.Scope{auth.AccountManage},
		Content:   []string{"mapping", "factory_id", "sealed", "hook"},
		Changes:   []string{"connectIntegration", "updateIntegration"},
		EndEffect: "`needs_reconnect` with `authority_ended`, and the event `integration.needs_reconnect`"},
	{Name: "link to a social account", Document: "pkg/area/consent.Consent",
		Acts: "connects the account of whoever opens it", RequiredScopes: []auth.Scope{auth.SocialManage},
		Changes: []string{"connectSocialAccount"}, EndEffect: "the page answers 403, and nothing is connected"},
	{Name: "link to a CRM", Document: "pkg/area/consent.Consent",
		Acts: "connects the CRM of whoever opens it", RequiredScopes: []auth.Scope{auth.AccountManage},
		Changes: []string{"connectIntegration"}, EndEffect: "the page answers 403, and nothing is connected"},
	{Name: "review link", Document: "pkg/area/publishing.linkRecord", Item: "review_link",
		Acts: "shows content, and decides about " +
			"it", RequiredScopes: []auth.Scope{auth.ContentRead, auth.ContentPublish},
		Content: []string{"content_item_ids", "factory_id", "may", "expires_at"},
		Changes: []string{"createReviewLink"}, EndEffect: "`expired`; the page answers 404"},
	{Name: "sign-on connection", Document: "pkg/record/connection.Connection",
		Acts: "lets people in with the roles of their groups; its set-up link lets the customer's IT set the provider",
		EndEffect: "a group gives no stronger role than who mapped it had; the set-up link is not valid any more; no " +
			"owner comes by a provider that no owner has confirmed"},
	{Name: "topic of a content plan", Document: "pkg/area/plan.topicItem",
		Acts:           "becomes a content item before its time, which may be published",
		RequiredScopes: []auth.Scope{auth.ContentPublish},
		Changes:        []string{"createPlanTopic", "updatePlanTopic", "approvePlanTopics"},
		EndEffect:      "its item is made, and its publications fail as those of other items"},
	{Name: "publication", Document: "pkg/area/content/item.Outlets", Item: "content_item",
		Acts:           "is published at its time, after it is generated or after it is approved",
		RequiredScopes: []auth.Scope{auth.ContentPublish},
		Content: []string{"title", "caption", "hashtags", "variants", "slides", "script", "prompt",
			"social_account_ids", "publish_at"},
		Changes: []string{"createContentItem", "createContentItems", "createContentPlan", "updateContentItem",
			"regenerateContentItem", "scheduleContentItem", "publishContentItem", "approveContentItem",
			"bulkPublishing", "applyDraft"},
		EndEffect: "its publications fail with `authority_ended`, and the event `content.failed` if all do"},
}
