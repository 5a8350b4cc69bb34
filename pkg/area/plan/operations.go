// Package plan holds the operations of content plans. Service.Register in operations.go has the operations; Handler in
// handler.go is the task that makes the topics and the items.
package plan

import (
	"context"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
)

// Service creates and shows content plans.
type Service struct {
	db        *store.DB
	factories *factory.Service
	offer     catalog.Offer
	now       func() time.Time
}

// NewService makes the service.
func NewService(db *store.DB, factories *factory.Service, offer catalog.Offer, now func() time.Time) *Service {
	return &Service{db, factories, offer, now}
}

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) {
	NewService(e.DB, factory.NewService(e.DB, e.Now), e.Offer(), e.Now).Register(r)
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	const path = "/v1/factories/{factory_id}/content-plan"
	create := httpapi.Op{
		ID: "createContentPlan", Method: http.MethodPost, Path: path, Scope: auth.FactoriesWrite, Function: "factory",
		Tag:     "Factories",
		Summary: "Create a content plan",
		Description: "Plans `days` times `posts_per_day` content items, at most 900. A text model writes a topic, " +
			"an angle and a hook for each item in the background, different from those of the factory's " +
			"last 90 days. The items are then created with the current settings of the factory, as `POST " +
			"/v1/content-items` creates them, and their `publish_at` follows its schedule. The credits of " +
			"all items are reserved at once; the topics cost nothing. An item for which no new topic is " +
			"found counts as failed, and its credits are released. The event `content_plan.proposed` " +
			"reports that topics wait for approval, and `content_plan.completed` reports that all items " +
			"have ended. If another plan of the factory has some of the days, the call needs `replace`. " +
			"With `approve: topics` the plan stops at the topics: read them in its `calendar`, change " +
			"them, and approve them. With `rehearse` nothing is created: the `rehearsal` of the response has the " +
			"calendar, the price and each refusal. With a test key nothing is spent, and `sandbox` selects the " +
			"result of each item.",
		Status: http.StatusAccepted,
		Errors: []errs.Code{errs.InvalidState, errs.UnsupportedModel, errs.InsufficientBalance, errs.SpendLimitReached,
			errs.RuleViolated, errs.QuoteUsed}, Opens: httpapi.Spending | httpapi.Publishing,
	}
	httpapi.Write(r, create, s.create)

	httpapi.Read(r, httpapi.Op{
		ID: "getContentPlan", Method: http.MethodGet, Path: path, Scope: auth.FactoriesRead, Function: "factory",
		Tag:     "Factories",
		Summary: "Get a content plan", Description: "Returns the plan of the factory that was created last, or the " +
			"one in `content_plan_id`, with its progress and the calendar of its items: pillar, angle and hook. " +
			"`GET /v1/content-items` lists its items by `content_plan_id`.", Opens: httpapi.Nothing,
	}, s.get)
	s.registerTopics(r)
}

func (s *Service) get(ctx context.Context, in *TopicsPath) (p Plan, err error) {
	items, err := s.find(ctx, *in)
	if err != nil {
		return p, err
	}
	if p, err = shown(items, auth.FromContext(ctx).Owner, *in); err != nil {
		return p, err
	}
	p.Calendar, err = Calendar(ctx, s.db, p)
	return p, err
}
