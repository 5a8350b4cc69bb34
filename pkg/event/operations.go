package event

import (
	"context"
	"net/http"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

// Service reads events.
type Service struct {
	db     *store.DB
	signer *media.Signer
}

// NewService makes the service.
func NewService(db *store.DB, signer *media.Signer) *Service { return &Service{db, signer} }

type listInput struct {
	httpapi.PageInput
	httpapi.Period
	Type Pattern `query:"type" doc:"Only events of this type, or of an area, such as content.*" example:"content.generated"`
}

type getInput struct {
	ID string `path:"event_id" doc:"Id of the event" example:"evt_01h455vb4pex5vsknk084sn02q"`
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	httpapi.List(r, httpapi.Op{
		ID: "listEvents", Method: http.MethodGet, Path: "/v1/events", Scope: auth.AccountRead, Function: "account", Tag: "Events",
		Summary:     "List the events of the last 30 days",
		Description: "The same events that webhooks get, newest first: to reconcile what a receiver missed.",
		Errors:      []errs.Code{errs.InvalidCursor},
	}, s.list)
	httpapi.Read(r, httpapi.Op{
		ID: "getEvent", Method: http.MethodGet, Path: "/v1/events/{event_id}", Scope: auth.AccountRead, Function: "account", Tag: "Events",
		Summary: "Get an event with its payload",
	}, s.get)
}

func (s *Service) list(ctx context.Context, in *listInput) (httpapi.Page[Event], error) {
	from, to, err := in.Bounds(id.Event)
	if err != nil {
		return httpapi.Page[Event]{}, err
	}
	p := auth.FromContext(ctx)
	return httpapi.ListItems(ctx, s.db, store.Query{
		Index: store.ByOwner, Partition: store.OwnerPartition(p.Account, string(p.Mode), Kind), From: from, To: to,
		Prefixes: map[string]string{"type": in.Type.prefix()},
	}, in.PageInput, func(it store.Item) (Event, error) { return Render(ctx, it, s.signer) })
}

func (s *Service) get(ctx context.Context, in *getInput) (Event, error) {
	it, err := httpapi.Find(ctx, s.db, id.Event, "event", in.ID)
	if err != nil {
		return Event{}, err
	}
	return Render(ctx, it, s.signer)
}
