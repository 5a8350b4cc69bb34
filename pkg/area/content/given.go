package content

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
)

// CreateShape returns the JSON Schema of the body of createContentItem, without its factory.
func CreateShape() (json.RawMessage, error) {
	return httpapi.Shape(reflect.TypeFor[createBody](), "factory_id", "metadata", "sandbox")
}

// Check checks a body of createContentItem, a parsed JSON value, as the operation does, except for
// its money. Places in errors begin with the member body.
func (s *Service) Check(ctx context.Context, body any) error {
	b, err := httpapi.Member[createBody]("body", body)
	if err != nil {
		return err
	}
	p := auth.FromContext(ctx)
	refs, err := s.open(ctx, p, b)
	if err != nil {
		return err
	}
	if err = b.check(p.Mode); err == nil {
		_, err = s.newRecord(b, refs, p.Mode, s.now())
	}
	return errs.Below("/body", err)
}

// CreateFrom is createContentItem with a parsed JSON value as its body. Places in errors
// begin with the member body.
func (s *Service) CreateFrom(ctx context.Context, tx *store.Tx, body any) (item.Item, error) {
	b, err := httpapi.Member[createBody]("body", body)
	if err != nil {
		return item.Item{}, err
	}
	it, err := s.create(ctx, tx, &createInput{Body: b})
	return it, errs.Below("/body", err)
}
