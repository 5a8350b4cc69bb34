package architect

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	planarea "github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/jsontree"
	"github.com/content-automation/api/pkg/store"
)

// The bounds of the results of tools: of one result in bytes, of a list, and of a text in a list in characters.
const (
	maxResult = 24 << 10
	maxListed = 20
	maxQuoted = 200
)

// tool is something that the model may call.
type tool struct {
	name, description string
	// scopes are the scopes that the caller needs for the tool, besides the scope of the
	// architect, and later to read the reply that used it.
	scopes []auth.Scope
	// input returns the JSON Schema of the tool's input, and shape is its type if it is none of a body.
	input func() (json.RawMessage, error)
	shape reflect.Type
	run   func(ctx context.Context, d *session, input json.RawMessage) (any, error)
}

// tools are all tools of the model. None of them writes.
var tools []tool

func init() {
	tools = []tool{
		reading("list_factories", "Lists the newest factories of the account.", []auth.Scope{auth.FactoriesRead},
			(*session).listFactories),
		reading("read_factory", "Returns the settings of a factory.", []auth.Scope{auth.FactoriesRead},
			(*session).readFactory),
		reading("read_analytics", "Returns what a factory has made, published, spent and reached in the last 30 "+
			"days, in all and by kind of content.", []auth.Scope{auth.FactoriesRead}, (*session).readAnalytics),
		reading("list_content", "Lists the newest content items of a factory.", []auth.Scope{auth.ContentRead},
			(*session).listContent),
		reading("read_performance", "Returns the five texts of a factory whose posts have the best figures, and the "+
			"five with the worst, among its newest 100 items: views, reactions, and weighted reactions for 1,000 "+
			"views.",
			[]auth.Scope{auth.ContentRead}, (*session).readPerformance),
		reading("list_products", "Lists the newest products of a factory of type seller, with their prices in the "+
			"smallest units of the currency and their promotions.", []auth.Scope{auth.ProductsRead},
			(*session).listProducts),
		reading("list_proposals", "Lists the open proposals for a factory: changes that a diagnosis has found "+
			"useful, which the user may apply.", []auth.Scope{auth.FactoriesRead}, (*session).listProposals),
		reading("list_models", "Lists the generation models of a kind, with their prices in credits.",
			[]auth.Scope{auth.AccountRead}, (*session).listModels),
		drafting("draft_factory", "Makes a draft of a factory. Its settings depend on its type; their JSON Schemas "+
			"by type are: ", Factory, factory.CreateShape, (*session).draftFactory),
		drafting("draft_content_plan", "Makes a draft of a content plan: so many items a day over some days, whose "+
			"topics are chosen when it is applied.", ContentPlan, planarea.CreateShape, (*session).draftPlan),
		drafting("draft_content_item", "Makes a draft of one content item of a factory.", ContentItem,
			content.CreateShape, (*session).draftItem),
		drafting("draft_factory_change", "Makes a draft of a change of a factory: a JSON merge patch (RFC 7396) of "+
			"the members that read_factory shows. Lists are replaced as a whole.", FactoryChange, factory.ChangeShape,
			(*session).draftFactoryChange),
		drafting("draft_content_item_change", "Makes a draft of a change of the title, caption or hashtags of a "+
			"content item: a JSON merge patch (RFC 7396).", ContentItemChange, content.ChangeShape,
			(*session).draftItemChange),
	}
}

// described returns the tools as the model sees them.
var described = sync.OnceValues(func() (all []provider.Tool, err error) {
	for _, t := range tools {
		shown := provider.Tool{Name: t.name, Description: t.description}
		if shown.Input, err = t.input(); err != nil {
			return nil, fmt.Errorf("architect: schema of %s: %w", t.name, err)
		}
		if t.name == "draft_factory" {
			shapes, err := factory.SettingsShapes()
			if err != nil {
				return nil, err
			}
			settings, err := json.Marshal(shapes)
			if err != nil {
				return nil, err
			}
			shown.Description += string(settings)
		}
		all = append(all, shown)
	}
	return all, nil
})

// Inputs returns the types of the tools' inputs that are not bodies of operations.
func Inputs() (all []reflect.Type) {
	for _, t := range tools {
		if t.shape != nil {
			all = append(all, t.shape)
		}
	}
	return all
}

// reading returns a tool that reads, and takes an object of the shape I.
func reading[I any](name, description string, scopes []auth.Scope,
	run func(*session, context.Context, I) (any, error)) tool {
	return tool{
		name: name, description: description, scopes: scopes, shape: reflect.TypeFor[I](),
		input: func() (json.RawMessage, error) { return httpapi.Shape(reflect.TypeFor[I]()) },
		run: func(ctx context.Context, d *session, input json.RawMessage) (any, error) {
			in, err := decode[I](input)
			if err != nil {
				return nil, err
			}
			return run(d, ctx, in)
		},
	}
}

// decode reads the input of a tool, which the model has written, as strictly as the body of a call.
func decode[I any](input json.RawMessage) (in I, err error) {
	tree, err := jsontree.Parse(input)
	if err != nil {
		return in, err
	}
	return httpapi.Member[I]("input", tree)
}

type nothing struct{}

type ofFactory struct {
	// Id of the factory. Absent: that of the chat.
	FactoryID string `json:"factory_id,omitempty"`
}

// factory returns the id of the factory of a tool's input.
func (d *session) factory(asked string) (string, error) {
	if asked != "" {
		return asked, nil
	}
	if d.factoryID == "" {
		return "", errs.New(errs.ValidationFailed, "The chat is about no factory: name one by factory_id, or draft "+
			"one first.")
	}
	return d.factoryID, nil
}

// find reads the factory of a tool's input.
func (d *session) find(ctx context.Context, asked string) (f factory.Factory, err error) {
	id, err := d.factory(asked)
	if err != nil {
		return f, err
	}
	if f, _, err = d.factories.Find(ctx, id); err == nil {
		d.read(f.ID)
	}
	return f, err
}

func (d *session) listFactories(ctx context.Context, _ nothing) (any, error) {
	page, err := d.db.List(ctx, store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(d.caller.Owner,
		factory.Kind), Limit: maxListed})
	if err != nil {
		return nil, err
	}
	all := []any{}
	for _, it := range page.Items {
		f, err := factory.Decode(&it)
		if err != nil {
			return nil, err
		}
		d.read(f.ID)
		all = append(all, map[string]any{"id": f.ID, "type": f.Type, "name": f.Name, "language": f.Language,
			"state": f.State})
	}
	return map[string]any{"factories": all, "more": page.Next != nil}, nil
}

func (d *session) readFactory(ctx context.Context, in ofFactory) (any, error) {
	f, err := d.find(ctx, in.FactoryID)
	if err != nil {
		return nil, err
	}
	return map[string]any{"factory": map[string]any{
		"id": f.ID, "type": f.Type, "name": f.Name, "language": f.Language, "description": f.Description,
		"audience": f.Audience, "tone": f.Tone, "topics": f.Topics,
		"content_types": f.ContentTypes, "models": f.Models, "schedule": f.Schedule, "auto_publish": f.AutoPublish,
		"settings": f.Settings, "state": f.State,
	}}, nil
}

func (d *session) readAnalytics(ctx context.Context, in ofFactory) (any, error) {
	id, err := d.factory(in.FactoryID)
	if err != nil {
		return nil, err
	}
	a, err := d.statistics.ByKind(ctx, id)
	if err != nil {
		return nil, err
	}
	d.read(id)
	return map[string]any{"analytics": a}, nil
}

func (d *session) listContent(ctx context.Context, in ofFactory) (any, error) {
	f, err := d.find(ctx, in.FactoryID)
	if err != nil {
		return nil, err
	}
	page, err := d.db.List(ctx, store.Query{Index: store.ByParent, Partition: item.ParentPartition(d.caller.Owner,
		f.ID), Limit: maxListed})
	if err != nil {
		return nil, err
	}
	all := []any{}
	for _, it := range page.Items {
		r, err := item.Decode(&it)
		if err != nil {
			return nil, err
		}
		d.read(r.Item.ID)
		all = append(all, map[string]any{
			"id": r.Item.ID, "kind": r.Item.Kind, "state": r.Item.State, "title": r.Item.Title,
			"prompt": provider.Clip(r.Item.Prompt, maxQuoted), "created_at": r.Item.CreatedAt,
			"publish_at": r.Item.PublishAt,
			"failure":    r.Item.Failure,
		})
	}
	return map[string]any{"content_items": all, "more": page.Next != nil}, nil
}

// The items among which the best and the worst texts are chosen, and the number of each.
const (
	maxRanked   = 100
	maxExtremes = 5
)

func (d *session) readPerformance(ctx context.Context, in ofFactory) (any, error) {
	f, err := d.find(ctx, in.FactoryID)
	if err != nil {
		return nil, err
	}
	page, err := item.List(ctx, d.db, store.Query{Index: store.ByParent,
		Partition: item.ParentPartition(d.caller.Owner, f.ID),
		OneOf:     map[string][]string{"state": {string(item.Published)}}, Limit: maxRanked})
	if err != nil {
		return nil, err
	}
	best, worst := item.Extremes(page.Records, maxExtremes)
	for _, p := range slices.Concat(best, worst) {
		d.read(p.ID)
	}
	return map[string]any{"best": best, "worst": worst, "published_items": len(page.Records)}, nil
}

func (d *session) listProducts(ctx context.Context, in ofFactory) (any, error) {
	f, err := d.find(ctx, in.FactoryID)
	if err != nil {
		return nil, err
	}
	page, err := d.db.List(ctx, store.Query{
		Index: store.ByParent, Partition: product.Partition(d.caller.Owner, f.ID), Limit: maxListed,
		Filters: map[string]string{"state": string(product.Active)},
	})
	if err != nil {
		return nil, err
	}
	all := []any{}
	for _, it := range page.Items {
		r, err := product.Decode(&it)
		if err != nil {
			return nil, err
		}
		d.read(r.ID)
		all = append(all, map[string]any{
			"id": r.ID, "sku": r.SKU, "name": r.Name, "description": provider.Clip(string(r.Description), maxQuoted),
			"price": r.Price, "photos": len(r.Photos), "promotions": r.Promotions,
		})
	}
	return map[string]any{"products": all, "more": page.Next != nil}, nil
}

func (d *session) listProposals(ctx context.Context, in ofFactory) (any, error) {
	f, err := d.find(ctx, in.FactoryID)
	if err != nil {
		return nil, err
	}
	now := d.now()
	stored, bounds := advice.Filter([]advice.ProposalState{advice.Open}, now)
	page, err := d.db.List(ctx, store.Query{
		Index: store.ByParent, Partition: advice.Partition(d.caller.Owner, f.ID), Limit: maxListed,
		Filters: map[string]string{advice.StateFilter: stored[0]}, Bounds: bounds,
	})
	if err != nil {
		return nil, err
	}
	all := []any{}
	for _, it := range page.Items {
		p, err := advice.ProposalDecode(&it, now)
		if err != nil {
			return nil, err
		}
		base, err := f.Under(p.Patch)
		if err != nil {
			return nil, err
		}
		d.read(p.ID)
		all = append(all, map[string]any{"id": p.ID, "title": p.Title, "rationale": p.Rationale, "patch": p.Patch,
			"expected_effect": p.ExpectedEffect, "can_be_applied": p.Base == base})
	}
	return map[string]any{"proposals": all}, nil
}

type ofKind struct {
	// Kind of media.
	Kind provider.Kind `json:"kind" enum:"text,image,video,music,voice,avatar"`
}

func (d *session) listModels(_ context.Context, in ofKind) (any, error) {
	all := []any{}
	for _, m := range d.offer.Models(catalog.Filter{Kind: in.Kind}, d.caller.Mode == tenant.Live) {
		if m.State != catalog.Available || len(all) == maxListed {
			continue
		}
		d.read(m.ID)
		all = append(all, map[string]any{"id": m.ID, "name": m.Name, "price": m.Price, "default": m.Default})
	}
	return map[string]any{"models": all}, nil
}
