// Package content holds the operations of content items: posts, videos, carousels, stories and music clips.
// Service.Register in operations.go has them; create.go makes an item, and package item has what is stored.
package content

import (
	"context"
	"net/http"
	"reflect"
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Service creates, reads, changes and deletes content items.
type Service struct {
	db        *store.DB
	factories FactoryFinder
	signer    *media.Signer
	offer     catalog.Offer
	platforms social.Adapters
	now       func() time.Time
	moderator moderator
}

// FactoryFinder finds the factories of items.
type FactoryFinder interface {
	// FindAll reads the caller's factories with the given ids, and further items, in one round trip.
	FindAll(ctx context.Context, ids []string, others ...store.Key) (found map[string]factory.Factory,
		beside []store.Item, err error)
}

var _ FactoryFinder = (*factory.Service)(nil)

// NewService returns the service. It makes no call.
func NewService(db *store.DB, factories FactoryFinder, signer *media.Signer, offer catalog.Offer,
	now func() time.Time) *Service {
	// The service uses only the capabilities of the platforms.
	platforms := social.NewPlatforms(social.PlatformsConfig{Now: now})
	return &Service{db: db, factories: factories, signer: signer, offer: offer, platforms: platforms, now: now}
}

// find reads a content item of the caller's account and mode, with its publications.
func (s *Service) find(ctx context.Context, itemID string, match ...httpapi.IfMatch) (*item.Record, store.Item, error) {
	under, err := resource.FindUnder(ctx, s.db, id.ContentItem, "content item", itemID)
	if err != nil {
		return nil, store.Item{}, err
	}
	r, err := item.Of(under)
	if err == nil {
		err = httpapi.Matches(r.Item.Version, match)
	}
	return r, under[0], err
}

// findWith is find, and reads other items in the same round trip. An item that is scheduled, or was, takes another one
// for its publications.
func (s *Service) findWith(ctx context.Context, itemID string, others []store.Key, match ...httpapi.IfMatch) (
	r *item.Record, it store.Item, beside []store.Item, err error) {
	it, beside, err = resource.FindWith(ctx, s.db, id.ContentItem, item.ItemKind, itemID, others...)
	if err == nil {
		r, err = item.Decode(&it)
	}
	if err == nil {
		err = r.Complete(ctx, s.db)
	}
	if err == nil {
		err = httpapi.Matches(r.Item.Version, match)
	}
	return r, it, beside, err
}

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) {
	NewService(e.DB, factory.NewService(e.DB, e.Now), e.Media, e.Offer(),
		e.Now).Moderated(e.Moderator).Register(r)
}

// ItemPath is the part of the path that names a content item. It is exported because
// huma reads exported fields only, embedded ones too.
type ItemPath struct {
	// Id of the content item.
	ID string `path:"content_item_id" example:"cnt_01h455vb4pex5vsknk084sn02q"`
}

type listInput struct {
	httpapi.PageInput
	httpapi.Period
	profile.Filter
	httpapi.Fields
	httpapi.Search
	// What the list is sorted by: the time of creation, or the time of publication. Sorted by publish_at, it has only
	// items that are planned for a time, or were published; publish_from and publish_to select, not from and to.
	OrderBy string `query:"order_by" enum:"created_at,publish_at" default:"created_at"`
	// Only items of this factory.
	FactoryID string `query:"factory_id"`
	// Only items of these kinds, separated by commas.
	Kind []string `query:"kind" enum:"post,video,carousel,story,music_clip" nullable:"false"`
	// Only items in these states, separated by commas.
	State []string `query:"state" format:"content-state" nullable:"false"`
	// Only items whose approval is in these states, separated by commas.
	Approval []string `query:"approval" enum:"none,pending,approved,changes_requested" nullable:"false"`
	// Only items of this content plan.
	ContentPlanID string `query:"content_plan_id"`
	// Only items whose publish_at is this time or later (RFC 3339).
	PublishFrom time.Time `query:"publish_from"`
	// Only items whose publish_at is before this time (RFC 3339).
	PublishTo time.Time `query:"publish_to"`
	resource.MetadataFilter
}

var op = httpapi.Ops("content", "Content")

// Register adds the operations of the area to the router.
func (s *Service) Register(r *httpapi.Router) {
	list := op("listContentItems", http.MethodGet, "/v1/content-items", auth.ContentRead, "List the content items",
		"Newest first. With `order_by=publish_at` it is a calendar: the latest time first, or with `order=asc` the "+
			"earliest. `fields` leaves out all other members.").Opening(httpapi.Nothing)
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.list)

	s.registerCreate(r)
	httpapi.Read(r, op("getContentItem", http.MethodGet, "/v1/content-items/{content_item_id}", auth.ContentRead,
		"Get a content item", "The URLs of its media are signed anew.").Opening(httpapi.Nothing), s.get)
	s.registerChanges(r)
	s.registerPublishing(r)
	bulker{s}.register(r)
}

func (s *Service) list(ctx context.Context, in *listInput) (httpapi.Page[item.Item], error) {
	q, err := httpapi.Owned(ctx, item.ItemKind, id.ContentItem, in.Period,
		in.Filter.Into(map[string]string{"kind": httpapi.AnyOf(in.Kind), "state": httpapi.AnyOf(in.State),
			item.ApprovalFilter: httpapi.AnyOf(in.Approval), "plan": in.ContentPlanID}))
	if err != nil {
		return httpapi.Page[item.Item]{}, err
	}
	members, err := in.Fields.Of(reflect.TypeFor[item.Item]())
	if err != nil {
		return httpapi.Page[item.Item]{}, err
	}
	if q.Ranges, err = in.planned(); err != nil {
		return httpapi.Page[item.Item]{}, err
	}
	in.MetadataFilter.Into(&q)
	in.Search.Into(&q)
	if in.FactoryID != "" {
		q.Index, q.Partition = store.ByParent, item.ParentPartition(auth.FromContext(ctx).Owner, in.FactoryID)
	}
	if in.OrderBy == item.PublishAtFilter {
		if err := in.byPublication(ctx, &q); err != nil {
			return httpapi.Page[item.Item]{}, err
		}
	}
	var records []*item.Record
	page, err := httpapi.ListItems(ctx, s.db, q, in.PageInput, func(it store.Item) (item.Item, error) {
		r, err := item.Decode(&it)
		if err != nil {
			return item.Item{}, err
		}
		records = append(records, r)
		return r.Item, nil
	})
	if err == nil {
		err = item.Attach(ctx, s.db, records...)
	}
	if err != nil {
		return page, err
	}
	for i, r := range records {
		if page.Items[i], err = r.View(ctx, s.signer); err != nil {
			return page, err
		}
		s.preview(ctx, r, &page.Items[i])
	}
	page.Members = members
	return page, s.foresee(ctx, records, page.Items)
}

// byPublication makes a query one of the calendar, by the time of publication.
func (in *listInput) byPublication(ctx context.Context, q *store.Query) error {
	if !in.From.IsZero() || !in.To.IsZero() {
		return errs.Invalid("order_by", "cannot be publish_at together with from or to, which are times of creation. "+
			"Send publish_from and publish_to")
	}
	q.Index, q.Partition = store.ByDue, item.CalendarPartition(auth.FromContext(ctx).Owner)
	if in.FactoryID != "" {
		q.Filters[item.FactoryFilter] = in.FactoryID
	}
	r := q.Ranges[item.PublishAtFilter]
	q.From, q.To, q.Ranges = r.From, r.To, nil
	return nil
}

// planned returns the range of the times of publication, or nil if the call names none.
func (in *listInput) planned() (map[string]store.Range, error) {
	var r store.Range
	if !in.PublishFrom.IsZero() {
		r.From = resource.SortableTime(in.PublishFrom)
	}
	if !in.PublishTo.IsZero() {
		r.To = resource.SortableTime(in.PublishTo)
	}
	switch {
	case r == store.Range{}:
		return nil, nil
	case r.From != "" && r.To != "" && r.From >= r.To:
		return nil, errs.Invalid("publish_from", "must be before publish_to")
	}
	return map[string]store.Range{item.PublishAtFilter: r}, nil
}

// view returns an item as the caller sees it. The result of a change omits all data that the caller may not read.
func (s *Service) view(ctx context.Context, r *item.Record) (item.Item, error) {
	v, err := r.View(ctx, s.signer)
	if err != nil {
		return v, err
	}
	s.preview(ctx, r, &v)
	if !auth.FromContext(ctx).Has(auth.ContentRead) {
		v.Media = []media.View{}
	}
	all := []item.Item{v}
	err = s.foresee(ctx, []*item.Record{r}, all)
	return all[0], err
}

// foresee sets the cost of canceling items, in one round trip. Nothing is completed of an item that is queued.
func (s *Service) foresee(ctx context.Context, records []*item.Record, shown []item.Item) error {
	var keys []store.Key
	var running []int
	for i, r := range records {
		if r.Item.State == item.Generating && r.Attempt.Ticket.Hold.Credits > 0 {
			keys, running = append(keys, generate.TaskKey(r.Item.ID, r.Item.Attempt)), append(running, i)
		}
	}
	if keys == nil {
		return nil
	}
	works, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return err
	}
	for n, i := range running {
		if *shown[i].CancelCost, err = generate.CancelCost(&records[i].Attempt.Ticket, works[n]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) get(ctx context.Context, in *ItemPath) (item.Item, error) {
	r, _, err := s.find(ctx, in.ID)
	if err != nil {
		return item.Item{}, err
	}
	return s.view(ctx, r)
}
