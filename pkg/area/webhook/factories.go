package webhook

import (
	"context"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/store"
)

// maxFactories bounds the factories that a webhook names: with the webhook they are read in one round trip.
const maxFactories = 50

// factoryIDs names factories in a request.
type factoryIDs []string

// Schema describes the list in the OpenAPI document. A patch removes it by null.
func (factoryIDs) Schema(huma.Registry) *huma.Schema {
	most := maxFactories
	s := &huma.Schema{
		Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}, MaxItems: &most, UniqueItems: true,
		Nullable: true,
		Description: "Only events of these factories. Empty or null: all events, including those without a factory, " +
			"such as balance.low",
		Examples: []any{[]string{"fac_01h455vb4pex5vsknk084sn02q"}},
	}
	s.PrecomputeMessages()
	return s
}

// keys returns the keys of the factories. It returns an error if one is not the id of a factory.
func (ids factoryIDs) keys() ([]store.Key, error) {
	keys := make([]store.Key, len(ids))
	for i, f := range ids {
		if !id.Valid(id.Factory, f) {
			return nil, errs.NotID("/factory_ids/"+strconv.Itoa(i), "factory", f)
		}
		keys[i] = factoryrecord.Key(f)
	}
	return keys, nil
}

// checkFactories refuses factories that the owner does not have.
func (s *Service) checkFactories(ctx context.Context, o tenant.Owner, named factoryIDs) error {
	keys, err := named.keys()
	if err != nil || len(keys) == 0 {
		return err
	}
	items, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return err
	}
	return owns(o, items)
}

// findNaming is find for a change that names factories, which it checks in the same round trip.
func (s *Service) findNaming(ctx context.Context, webhookID string, named factoryIDs,
	match httpapi.IfMatch) (WebhookRecord, store.Item, error) {
	if len(named) == 0 || !id.Valid(id.Webhook, webhookID) {
		return s.find(ctx, webhookID, match)
	}
	var r WebhookRecord
	keys, err := named.keys()
	if err != nil {
		return r, store.Item{}, err
	}
	to := refOf(ctx, webhookID)
	items, err := s.db.GetAll(ctx, append(keys, to.Key())...)
	if err != nil {
		return r, store.Item{}, err
	}
	it := items[len(keys)]
	if it.Kind == "" {
		return r, it, errs.Missing(Kind, webhookID)
	}
	if err := owns(it.Owner, items[:len(keys)]); err != nil {
		return r, it, err
	}
	if err := it.Decode(&r); err != nil {
		return r, it, err
	}
	return r, it, match.Check(r.Version)
}

// owns refuses items that are not factories of the owner.
func owns(o tenant.Owner, factories []store.Item) error {
	for i, it := range factories {
		if !factoryrecord.Usable(it, o) {
			return noFactory(i)
		}
	}
	return nil
}

func noFactory(i int) error {
	return errs.Invalid("/factory_ids/"+strconv.Itoa(i), "is not the id of a factory of this account in this mode")
}
