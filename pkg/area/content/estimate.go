package content

import (
	"context"

	"github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
)

// Estimates returns, by operation, the functions that price the bodies of the operations
// that create items: they return the credits of each item with a live key, in the order of
// the items. A body is the member "body" of the request; places in errors begin below it.
func (s *Service) Estimates() map[string]func(ctx context.Context, body any) ([]int64, error) {
	return map[string]func(ctx context.Context, body any) ([]int64, error){
		"createContentItem": func(ctx context.Context, body any) ([]int64, error) {
			b, err := httpapi.Member[createBody]("body", body)
			if err != nil {
				return nil, err
			}
			return s.prices(ctx, false, b)
		},
		"createContentItems": func(ctx context.Context, body any) ([]int64, error) {
			b, err := httpapi.Member[batchBody]("body", body)
			if err != nil {
				return nil, err
			}
			return s.prices(ctx, true, b.Items...)
		},
	}
}

// EstimateRegenerate returns the credits of another attempt at an item with a live key, as Estimates does.
func (s *Service) EstimateRegenerate(ctx context.Context, itemID string, body any) ([]int64, error) {
	b, err := httpapi.Member[regenerateBody]("body", body)
	if err != nil {
		return nil, err
	}
	if err := checkRehearsal(b.Sandbox, auth.FromContext(ctx).Mode); err != nil {
		return nil, err
	}
	r, it, beside, err := s.findWith(ctx, itemID, media.Keys(b.media()))
	if err != nil {
		return nil, err
	}
	err = s.plan(ctx, r, b, references{media: media.Of(it.Owner, beside)}, true)
	return []int64{r.Attempt.Credits}, err
}

// prices returns the price of each body, of a batch or of one item, with a live key. A body that would be refused has
// none.
func (s *Service) prices(ctx context.Context, batch bool, bodies ...createBody) ([]int64, error) {
	p := auth.FromContext(ctx)
	refs, err := s.open(ctx, p, bodies...)
	if err != nil {
		return nil, err
	}
	var bad batchErrors
	credits := make([]int64, len(bodies))
	for i, b := range bodies {
		r, err := s.accepted(ctx, p, b, refs, tenant.Live, s.now())
		if err == nil {
			credits[i] = r.Attempt.Credits
			continue
		}
		if !batch {
			return nil, err
		}
		if err := bad.add(i, err); err != nil {
			return nil, err
		}
	}
	return credits, bad.err()
}
