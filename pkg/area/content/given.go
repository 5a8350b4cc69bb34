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
	return httpapi.Shape(reflect.TypeFor[createBody](), "factory_id", "publish_at", "social_account_ids", "options",
		"metadata", "sandbox")
}

// ChangeShape returns the JSON Schema of the body of updateContentItem.
func ChangeShape() (json.RawMessage, error) {
	return httpapi.Shape(reflect.TypeFor[patchBody](), "metadata")
}

// Find returns an item of the caller.
func (s *Service) Find(ctx context.Context, itemID string) (item.Item, error) {
	r, _, err := s.find(ctx, itemID)
	if err != nil {
		return item.Item{}, err
	}
	return r.Public(), nil
}

// ChangeFrom is updateContentItem with a parsed JSON value as its body. Places in errors begin with the member body.
func (s *Service) ChangeFrom(ctx context.Context, tx *store.Tx, itemID string, body map[string]any) (out item.Item,
	err error) {
	r, it, err := s.find(ctx, itemID)
	if err != nil {
		return out, err
	}
	if err := r.Item.Permit(item.Update); err != nil {
		return out, err
	}
	if err := httpapi.CheckPatch(reflect.TypeFor[patchBody](), body); err != nil {
		return out, errs.Below("/body", err)
	}
	set, err := httpapi.Merge(textsOf(r), body)
	if err != nil {
		return out, errs.Below("/body", err)
	}
	sent := map[string]bool{}
	for name, value := range body {
		sent[name] = value != nil
	}
	out, err = s.change(ctx, tx, it, r, set, sent)
	return out, errs.Below("/body", err)
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
	_, err = s.accepted(ctx, p, b, refs, p.Mode, s.now())
	return errs.Below("/body", err)
}

// CreateFrom is createContentItem with a parsed JSON value as its body. Places in errors begin with the member body.
func (s *Service) CreateFrom(ctx context.Context, tx *store.Tx, body any) (item.Item, error) {
	b, err := httpapi.Member[createBody]("body", body)
	if err != nil {
		return item.Item{}, err
	}
	it, err := s.create(ctx, tx, &createInput{Body: b})
	return it, errs.Below("/body", err)
}
