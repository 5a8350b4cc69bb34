package content

import (
	"context"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/catalog"
	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/factory"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

// FactoryFinder finds the factories that items are made for.
type FactoryFinder interface {
	// FindAll reads the factories of the ids that the caller's account and mode have,
	// and other items beside them, in one round trip.
	FindAll(ctx context.Context, ids []string, others ...store.Key) (found map[string]factory.Factory, beside []store.Item, err error)
}

var _ FactoryFinder = (*factory.Service)(nil)

// NewService makes the service.
func NewService(db *store.DB, factories FactoryFinder, signer *media.Signer, offer catalog.Offer, now func() time.Time) *Service {
	return &Service{db, factories, signer, offer, now}
}

// ItemPath is the part of the path that names a content item. It is exported because
// huma reads exported fields only, embedded ones too.
type ItemPath struct {
	ID string `path:"content_item_id" doc:"Id of the content item" example:"cnt_01h455vb4pex5vsknk084sn02q"`
}

type listInput struct {
	httpapi.PageInput
	httpapi.Period
	FactoryID     string `query:"factory_id" doc:"Only items of this factory"`
	Kind          string `query:"kind" enum:"post,video,carousel,story,music_clip" doc:"Only items of this kind"`
	State         string `query:"state" enum:"queued,generating,generated,scheduled,publishing,published,failed,canceled" doc:"Only items in this state"`
	ContentPlanID string `query:"content_plan_id" doc:"Only items of this content plan"`
}

func op(id, method, path string, scope auth.Scope, summary, description string) httpapi.Op {
	return httpapi.Op{
		ID: id, Method: method, Path: path, Scope: scope, Function: "content", Tag: "Content",
		Summary: summary, Description: description,
	}
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	list := op("listContentItems", http.MethodGet, "/v1/content-items", auth.ContentRead, "List the content items", "Newest first.")
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.list)

	s.registerCreate(r)
	httpapi.Read(r, op("getContentItem", http.MethodGet, "/v1/content-items/{content_item_id}", auth.ContentRead, "Get a content item", "The URLs of its media are signed anew."), s.get)
	s.registerChanges(r)
}

func (s *Service) list(ctx context.Context, in *listInput) (httpapi.Page[Item], error) {
	if in.FactoryID != "" && !id.Valid(id.Factory, in.FactoryID) {
		return httpapi.Page[Item]{}, errs.Invalid("factory_id", "is not the id of a factory")
	}
	if in.ContentPlanID != "" && !id.Valid(id.ContentPlan, in.ContentPlanID) {
		return httpapi.Page[Item]{}, errs.Invalid("content_plan_id", "is not the id of a content plan")
	}
	q, err := httpapi.Owned(ctx, ItemKind, id.ContentItem, in.Period, map[string]string{"kind": in.Kind, "state": in.State, "plan": in.ContentPlanID})
	if err != nil {
		return httpapi.Page[Item]{}, err
	}
	if in.FactoryID != "" {
		q.Index, q.Partition = store.ByParent, parentPartition(auth.FromContext(ctx).Owner, in.FactoryID)
	}
	return httpapi.ListItems(ctx, s.db, q, in.PageInput, func(it store.Item) (Item, error) {
		r, err := decode(&it)
		if err != nil {
			return Item{}, err
		}
		return r.view(ctx, s.signer)
	})
}

func (s *Service) get(ctx context.Context, in *ItemPath) (Item, error) {
	r, _, err := s.find(ctx, in.ID)
	if err != nil {
		return Item{}, err
	}
	return r.view(ctx, s.signer)
}
