package publishing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/kind"
	"github.com/content-automation/api/pkg/record/authority"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

const (
	linkKind = item.ReviewLinkKind
	// longestLink is the longest time for which a link is valid.
	longestLink = 30 * 24 * time.Hour
	// mostReviewed bounds the items of a page.
	mostReviewed = 50
	// The permissions of a link.
	mayView, mayDecide = "view", "decide"
)

// ReviewLink is a page for people without an account.
type ReviewLink struct {
	resource.Resource
	// Name for your own use.
	Name string `json:"name"`
	// Content items that the page shows. Empty: those of the factory.
	ItemIDs []string `json:"content_item_ids" nullable:"false"`
	// Profile of the content that the page shows. Null: the account as a whole.
	ProfileID *tenant.Profile `json:"profile_id"`
	// Factory whose generated and scheduled items the page shows. Null: content_item_ids.
	FactoryID *string `json:"factory_id"`
	// What people may do on the page: view the items, or also approve them and request changes.
	May string `json:"may" enum:"view,decide"`
	// Time at which the page ends.
	ExpiresAt resource.Time `json:"expires_at"`
	// Id of the API key, or of the person, that created the link. The page ends with its access.
	CreatedBy string `json:"created_by" example:"key_01h455vb4pex5vsknk084sn02q"`
	// State of the link. expired: it has reached expires_at, or the key or person in created_by may not read or publish
	// content any more.
	State string `json:"state" enum:"active,expired"`
	// Address of the page. It is in the response that creates the link only: null in all others.
	URL *string `json:"url" format:"uri"`
	// Time at which the address was shown, in late repeats of the creation. Null otherwise.
	SecretShown *resource.Time `json:"secret_shown_at"`
}

var _ httpapi.Confidential = ReviewLink{}

// Concealed implements httpapi.Confidential.
func (l ReviewLink) Concealed(made resource.Time) any {
	l.URL, l.SecretShown = nil, &made
	return l
}

// Grants implements httpapi.Confidential.
func (ReviewLink) Grants() []auth.Scope { return nil }

// linkRecord is the stored document of a link. It has the hash of the secret, not the secret.
type linkRecord struct {
	ReviewLink
	Hash string `json:"hash"`
	// Factories are the factories of its items.
	Factories []string `json:"factories,omitempty"`
	// Authority is who has made the link: it shows and decides what they may.
	Authority authority.Authority `json:"authority"`
}

// The filters of links: the items and the factories that they name, each with a mark before it.
const (
	itemsFilter     = "items"
	factoriesFilter = "factories"
	mark            = "#"
)

// Describe returns the values by which lists filter links.
func (l linkRecord) Describe() map[string]string {
	all := l.Resource.Describe()
	all[itemsFilter] = joinIDs(l.ItemIDs)
	all[factoriesFilter] = joinIDs(l.Factories)
	return all
}

// joinIDs returns ids as one text that has each after a mark.
func joinIDs(ids []string) (text string) {
	for _, one := range ids {
		text += mark + one
	}
	return text
}

// The states of a link.
const (
	linkActive  = "active"
	linkExpired = "expired"
)

// at returns the link as callers see it at a time. holder is the item of its authority.
func (l linkRecord) at(now time.Time, owner tenant.Owner, holder store.Item) (ReviewLink, error) {
	v := l.ReviewLink
	p, err := l.Authority.Principal(holder, owner, now)
	if err == nil {
		err = opens(p)
	}
	if v.State = linkActive; err != nil || !now.Before(v.ExpiresAt.Time) {
		v.State = linkExpired
	}
	if errors.As(err, new(*authority.EndedError)) {
		err = nil
	}
	return v, err
}

// opens returns an EndedError unless the principal who has made a link may open its page to others.
func opens(p *auth.Principal) error {
	return errors.Join(authority.Lacks(p, auth.ContentRead), authority.Lacks(p, auth.ContentPublish))
}

type linkBody struct {
	// Name for your own use.
	Name string `json:"name,omitempty" format:"line" maxLength:"100" example:"Spring campaign"`
	// Content items to show. Send them or factory_id.
	ItemIDs []string `json:"content_item_ids,omitempty" minItems:"1" maxItems:"50" uniqueItems:"true" nullable:"false"`
	// Factory whose generated and scheduled items to show, up to 50, the newest first.
	FactoryID string `json:"factory_id,omitempty" maxLength:"64" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// What people may do: view, or also decide.
	May string `json:"may,omitempty" enum:"view,decide" default:"view"`
	// Time at which the page ends: within 30 days. Absent: in 7 days.
	ExpiresAt *resource.Time `json:"expires_at,omitempty" example:"2027-01-15T09:30:00Z"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

// Rules refuses a body without a subject, or with two.
func (b linkBody) Rules() error {
	if (b.FactoryID == "") == (b.ItemIDs == nil) {
		return errs.Invalid("/content_item_ids", "send content_item_ids or factory_id, not both")
	}
	return nil
}

type linksInput struct {
	httpapi.PageInput
	resource.MetadataFilter
	profile.Filter
	// Only links that show items of this factory.
	FactoryID string `query:"factory_id"`
	// Only links that name this content item.
	ItemID string `query:"content_item_id"`
	// Only links in these states, separated by commas.
	State []string `query:"state" enum:"active,expired" nullable:"false"`
}

type linkInput struct{ Body linkBody }

var reviewLinks = kind.Kind[linkRecord]{Name: linkKind, ID: id.ReviewLink, Path: "/v1/review-links/{review_link_id}",
	Function: "content", Tag: "Publishing", Reads: auth.ContentRead, Writes: auth.ContentPublish,
	Count: quota.ReviewLinks.Take,
	Place: func(it *store.Item, l *linkRecord) { it.ExpireAt = l.ExpiresAt.Add(longestLink) }}

// registerLinks adds the operations of review links.
func (s *Service) registerLinks(r *httpapi.Router) {
	httpapi.List(r, s.reviewLinks.Op(httpapi.Op{ID: "listReviewLinks", Summary: "List the review links",
		Description: "Newest first. Links that have ended stay for 30 days.", Scope: auth.ContentPublish},
		http.MethodGet, "/v1/review-links"), s.links)
	httpapi.Write(r, s.reviewLinks.Op(httpapi.Op{ID: "createReviewLink", Summary: "Create a review link",
		Description: "Makes the address of a page for people without an account. It shows the finished media and " +
			"texts of content items as each platform will show them; with `may: decide`, people approve items there " +
			"or request changes. Whoever has the address can open the page until `expires_at`, or until you delete " +
			"the link. Decisions are in the audit log under the id of the link. The scope content:read is needed " +
			"too, and the page ends if the calling key, or the person, loses one of both or all access.",
		Opens:  httpapi.Credential | httpapi.Copy | httpapi.Publishing,
		Errors: []errs.Code{errs.NotFound, errs.InvalidState}}, http.MethodPost, "/v1/review-links"), s.createLink)
	kind.Get(r, s.reviewLinks, httpapi.Op{ID: "getReviewLink", Summary: "Get a review link",
		Description: "Without its address: only the response that creates the link has that."}, s.link)
	kind.Delete(r, s.reviewLinks, httpapi.Op{ID: "deleteReviewLink", Summary: "Delete a review link",
		Description: "The page ends at once.", Opens: httpapi.Deletion | httpapi.Publishing}, nil, s.ended)
}

func (s *Service) createLink(ctx context.Context, tx *store.Tx, in *linkInput) (out ReviewLink, err error) {
	b, now, p := in.Body, s.now(), auth.FromContext(ctx)
	// The page shows texts and media.
	if err := p.Require(auth.ContentRead, ""); err != nil {
		return out, err
	}
	if err := b.Rules(); err != nil {
		return out, err
	}
	until := now.Add(7 * 24 * time.Hour)
	if b.ExpiresAt != nil {
		until = b.ExpiresAt.Time
	}
	o, factories, err := s.ownerOf(ctx, b)
	if err != nil {
		return out, err
	}
	if !until.After(now) || until.After(now.Add(longestLink)) {
		return out, errs.Invalid("/expires_at", "must be in the future, within 30 days")
	}
	secret, hash, err := web.NewBearer(s.random)
	if err != nil {
		return out, err
	}
	l := linkRecord{Hash: hash, Factories: factories, ReviewLink: ReviewLink{
		Resource: resource.New(id.New(id.ReviewLink, now), now, b.Metadata), Name: b.Name,
		ProfileID: o.ProfileID(), ItemIDs: append([]string{}, b.ItemIDs...), May: b.May,
		ExpiresAt: resource.Instant(until), State: linkActive, CreatedBy: p.Actor.ID,
	}, Authority: authority.Of(p, auth.ContentRead, auth.ContentPublish)}
	l.May = cmp.Or(l.May, mayView)
	if b.FactoryID != "" {
		l.FactoryID = &b.FactoryID
	}
	if _, err := s.reviewLinks.Add(tx, now, o, &l); err != nil {
		return out, err
	}
	url := httpapi.PublicURL(ctx) + PagePath + strings.TrimPrefix(l.ID, id.ReviewLink+"_") + "." + secret
	out = l.ReviewLink
	out.URL = &url
	return out, nil
}

// ownerOf returns the owner of the items or of the factory, and the factories. It refuses those that the caller does
// not have, and items of several profiles: the page is one client's.
func (s *Service) ownerOf(ctx context.Context, b linkBody) (o tenant.Owner, factories []string, err error) {
	if b.FactoryID != "" {
		_, it, err := s.factories.Find(ctx, b.FactoryID)
		if err != nil {
			return o, nil, factoryrecord.RefError(err, b.FactoryID)
		}
		return it.Owner, []string{b.FactoryID}, nil
	}
	found, _, err := resource.FindAll(ctx, s.db, id.ContentItem, b.ItemIDs)
	if err != nil {
		return o, nil, err
	}
	for i, itemID := range b.ItemIDs {
		it, ok := found[itemID]
		if !ok || it.Kind != item.ItemKind {
			return o, nil, errs.MissingAt(fmt.Sprintf("/content_item_ids/%d", i), item.ItemKind, itemID)
		}
		if i > 0 && it.Owner != o {
			return o, nil, errs.Invalid(fmt.Sprintf("/content_item_ids/%d", i), "is of another profile than %s",
				b.ItemIDs[0])
		}
		if of := it.Filters[item.FactoryFilter]; !slices.Contains(factories, of) {
			factories = append(factories, of)
		}
		o = it.Owner
	}
	return o, factories, nil
}

// link returns a link with the state that it has.
func (s *Service) link(ctx context.Context, f *kind.Found[linkRecord]) (out ReviewLink, err error) {
	holder, err := s.db.Lookup(ctx, f.Record.Authority.Key(f.Item.Owner.Account))
	if err != nil {
		return out, err
	}
	return f.Record.at(s.now(), f.Item.Owner, holder)
}

// ended returns a deleted link.
func (s *Service) ended(_ context.Context, f *kind.Found[linkRecord]) (ReviewLink, error) {
	f.Record.Touch(s.now())
	f.Record.State = linkExpired
	return f.Record.ReviewLink, nil
}

// openLink returns the link of a token and the principal of its page, or nil if there is none, it has ended or the
// token is wrong.
func (s *Service) openLink(ctx context.Context, token string) (*linkRecord, store.Item, *auth.Principal, error) {
	suffix, secret, _ := strings.Cut(token, ".")
	linkID := id.ReviewLink + "_" + suffix
	if !id.Valid(id.ReviewLink, linkID) {
		return nil, store.Item{}, nil, nil
	}
	found, err := s.db.Lookup(ctx, store.IDKey(linkID))
	if err != nil || found.Kind != linkKind {
		return nil, store.Item{}, nil, err
	}
	var l linkRecord
	if err := found.Decode(&l); err != nil {
		return nil, store.Item{}, nil, err
	}
	if !web.MatchesBearer(secret, l.Hash) || !s.now().Before(l.ExpiresAt.Time) {
		return nil, store.Item{}, nil, nil
	}
	h, err := l.Authority.Find(ctx, s.db, found.Owner, s.now())
	if err == nil {
		err = opens(h.Principal)
	}
	if errors.As(err, new(*authority.EndedError)) {
		return nil, store.Item{}, nil, nil
	}
	return &l, found, h.Principal, err
}

// linkItems returns the items of a link, in their order.
func (s *Service) linkItems(ctx context.Context, l *linkRecord, owner store.Item) (all []*item.Record, err error) {
	var items []store.Item
	if l.FactoryID == nil {
		items, err = s.db.GetAll(ctx, store.IDKeys(l.ItemIDs)...)
	} else {
		var page store.Page
		page, err = s.db.List(ctx, store.Query{Index: store.ByParent, Limit: mostReviewed,
			Partition: item.ParentPartition(owner.Owner, *l.FactoryID),
			OneOf:     map[string][]string{"state": {string(item.Generated), string(item.Scheduled)}}})
		items = page.Items
	}
	if err != nil {
		return nil, err
	}
	for _, it := range items {
		if it.Kind != item.ItemKind || it.Owner != owner.Owner {
			continue
		}
		r, err := item.Decode(&it)
		if err != nil {
			return nil, err
		}
		if slices.Contains(item.WrittenStates(), string(r.Item.State)) {
			all = append(all, r)
		}
	}
	return all, nil
}

// links lists the links. Their states follow from the clock and from their makers, which no index knows: more is read
// until the page is full, or has read enough.
func (s *Service) links(ctx context.Context, in *linksInput) (page httpapi.Page[ReviewLink], err error) {
	read := *in
	for range mostLinkReads {
		found, err := s.readLinks(ctx, &read)
		if err != nil {
			return page, err
		}
		for _, l := range found.Items {
			if len(in.State) == 0 || slices.Contains(in.State, l.State) {
				page.Items = append(page.Items, l)
			}
		}
		page.Next, read.Cursor = found.Next, found.Next
		if read.Limit = in.Limit - len(page.Items); found.Next == "" || read.Limit == 0 {
			break
		}
	}
	return page, nil
}

// mostLinkReads bounds the reads of one page of links.
const mostLinkReads = 5

// readLinks reads a page of links in any state.
func (s *Service) readLinks(ctx context.Context, in *linksInput) (httpapi.Page[ReviewLink], error) {
	var all []linkRecord
	var owners []tenant.Owner
	note := func(_ context.Context, f *kind.Found[linkRecord]) (ReviewLink, error) {
		all, owners = append(all, *f.Record), append(owners, f.Item.Owner)
		return f.Record.ReviewLink, nil
	}
	page, err := kind.Page(ctx, s.reviewLinks, in, note, func(_ context.Context, in *linksInput, q *store.Query) error {
		if len(in.State) > 0 { // no item has it, and still a cursor belongs to a list of states
			q.CallerFilters = map[string][]string{"state": slices.Sorted(slices.Values(in.State))}
		}
		if q.Contains == nil {
			q.Contains = map[string][]string{}
		}
		if in.FactoryID != "" {
			q.Contains[factoriesFilter] = []string{mark + in.FactoryID}
		}
		if in.ItemID != "" {
			q.Contains[itemsFilter] = []string{mark + in.ItemID}
		}
		return nil
	})
	if err != nil || len(all) == 0 {
		return page, err
	}
	makers := map[store.Key]store.Item{}
	for i, l := range all {
		makers[l.Authority.Key(owners[i].Account)] = store.Item{}
	}
	keys := slices.Collect(maps.Keys(makers))
	items, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return page, err
	}
	for i, key := range keys {
		makers[key] = items[i]
	}
	for i := range page.Items {
		page.Items[i], err = all[i].at(s.now(), owners[i], makers[all[i].Authority.Key(owners[i].Account)])
		if err != nil {
			return page, err
		}
	}
	return page, nil
}
