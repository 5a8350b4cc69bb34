package plan

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/quote"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
)

// CreateShape returns the JSON Schema of the body of createContentPlan.
func CreateShape() (json.RawMessage, error) {
	return httpapi.Shape(reflect.TypeFor[createBody](), "metadata", "sandbox", "rehearse", "quote_id")
}

// Check checks a body of createContentPlan, a parsed JSON value, for a factory as the operation does, but for its money
// and for days of other plans. Places in errors begin with the member body.
func (s *Service) Check(ctx context.Context, factoryID string, body any) error {
	b, err := httpapi.Member[createBody]("body", body)
	if err != nil {
		return err
	}
	f, of, err := s.factories.Find(ctx, factoryID)
	if err != nil {
		return err
	}
	l, err := s.lessons(ctx, of.Owner, f, b)
	if err != nil {
		return errs.Below("/body", err)
	}
	p, now := auth.FromContext(ctx), s.now()
	clock, err := testclock.Now(ctx, s.db, p.Owner, now)
	if err != nil {
		return err
	}
	_, err = s.draft(b, f, l, new(quote.Terms), p.Mode, now, clock)
	return errs.Below("/body", err)
}

// CreateFrom is createContentPlan with a parsed JSON value as its body. Places in errors begin with the member body.
func (s *Service) CreateFrom(ctx context.Context, tx *store.Tx, factoryID string, body any) (Plan, error) {
	b, err := httpapi.Member[createBody]("body", body)
	if err != nil {
		return Plan{}, err
	}
	b.Given = quote.Given{} // they are of a call, and this is no call of the operation
	p, err := s.create(ctx, tx, &createInput{factory.FactoryPath{ID: factoryID}, b})
	return p, errs.Below("/body", err)
}
