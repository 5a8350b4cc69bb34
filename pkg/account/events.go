package account

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/resource"
	"github.com/content-automation/api/pkg/store"
)

// Events serves the account's events.
type Events struct {
	db     *store.DB
	signer *media.Signer
}

// NewEvents returns the operations that read events.
func NewEvents(db *store.DB, signer *media.Signer) *Events { return &Events{db, signer} }

// eventPattern describes an event.Pattern to huma, which that package does not know.
type eventPattern event.Pattern

// Schema lets requests name known patterns only.
func (eventPattern) Schema(huma.Registry) *huma.Schema { return httpapi.Enum(event.Patterns()) }

type eventsInput struct {
	httpapi.PageInput
	httpapi.Period
	Type eventPattern `query:"type" doc:"Only events of this type, or of this area, such as content.*" example:"content.generated"`
}

type eventInput struct {
	ID string `path:"event_id" doc:"Id of the event" example:"evt_01h455vb4pex5vsknk084sn02q"`
}

// Register puts the operations into the router.
func (s *Events) Register(r *httpapi.Router) {
	httpapi.List(r, httpapi.Op{
		ID: "listEvents", Method: http.MethodGet, Path: "/v1/events", Scope: auth.AccountRead, Function: "account", Tag: "Events",
		Summary:     "List the events of the last 30 days",
		Description: "Lists the events that webhooks receive, newest first. Use it to find what a receiver missed.",
		Errors:      []errs.Code{errs.InvalidCursor},
	}, s.list)
	httpapi.Read(r, httpapi.Op{
		ID: "getEvent", Method: http.MethodGet, Path: "/v1/events/{event_id}", Scope: auth.AccountRead, Function: "account", Tag: "Events",
		Summary: "Get an event with its payload",
	}, s.get)
}

func (s *Events) list(ctx context.Context, in *eventsInput) (httpapi.Page[event.Event], error) {
	q, err := httpapi.Owned(ctx, event.Kind, id.Event, in.Period, nil)
	if err != nil {
		return httpapi.Page[event.Event]{}, err
	}
	q.Prefixes = map[string]string{"type": event.Pattern(in.Type).Prefix()}
	return httpapi.ListItems(ctx, s.db, q, in.PageInput, func(it store.Item) (event.Event, error) { return event.Render(ctx, it, s.signer) })
}

func (s *Events) get(ctx context.Context, in *eventInput) (event.Event, error) {
	it, err := resource.Find(ctx, s.db, id.Event, "event", in.ID)
	if err != nil {
		return event.Event{}, err
	}
	return event.Render(ctx, it, s.signer)
}
