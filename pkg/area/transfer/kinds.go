package transfer

import (
	"context"
	"reflect"
	"time"

	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/architect"
	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/engagement"
	"github.com/content-automation/api/pkg/area/factory"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/store"
)

// viewer shows the resources of items as their GET does.
type viewer struct {
	db    *store.DB
	names *media.Signer
	now   time.Time
}

// kind is a kind of resource in exports.
type kind struct {
	// name is the type of its lines, item the kind of its items in the table, and prefix that of its ids.
	name, item, prefix string
	of                 reflect.Type
	// partition returns the partition of store.Table that lists it. If it is nil, store.ByOwner does.
	partition func(tenant.Owner) string
	// view returns the resource of an item, or nil if callers do not see it.
	view func(context.Context, viewer, store.Item) (any, error)
}

// kindOf returns a kind of resource whose view is a function of its item.
func kindOf[T any](name, itemKind, prefix string, view func(context.Context, viewer, store.Item) (T, error)) kind {
	return kind{name: name, item: itemKind, prefix: prefix, of: reflect.TypeFor[T](),
		view: func(ctx context.Context, v viewer, it store.Item) (any, error) { return view(ctx, v, it) }}
}

// plain is a view that needs nothing but the item.
func plain[T any](read func(*store.Item) (T, error)) func(context.Context, viewer, store.Item) (T, error) {
	return func(_ context.Context, _ viewer, it store.Item) (T, error) { return read(&it) }
}

// decoded is the view of an item whose document is the resource.
func decoded[T any](it *store.Item) (v T, err error) { return v, it.Decode(&v) }

// kinds are the kinds of resources in exports, in their order: what others refer to comes first. What has secrets only,
// such as keys, or acts only by its address, such as review links, is not among them.
var kinds = []kind{
	kindOf("profile", profile.Kind, id.Profile, plain(decoded[profile.Profile])),
	kindOf("media", incoming.ItemKind, id.Media,
		func(ctx context.Context, v viewer, it store.Item) (incoming.Media, error) {
			r, err := incoming.Decode(&it)
			if err != nil {
				return incoming.Media{}, err
			}
			return r.View(ctx, v.names, it.Owner, v.now, false)
		}),
	kindOf("factory", factory.Kind, id.Factory, plain(factory.Decode)),
	kindOf("social_account", social.Kind, id.SocialAccount,
		plain(func(it *store.Item) (social.Account, error) {
			r, err := social.Decode(it)
			return r.View(), err
		})),
	kindOf("product", product.ItemKind, id.Product,
		func(ctx context.Context, v viewer, it store.Item) (product.Product, error) {
			r, err := product.Decode(&it)
			if err != nil {
				return product.Product{}, err
			}
			return r.View(ctx, v.names, it.Owner, v.now, false)
		}),
	kindOf("promotion", product.PromotionKind, id.Promotion,
		func(_ context.Context, v viewer, it store.Item) (product.Promotion, error) {
			return product.DecodePromotion(&it, v.now)
		}),
	kindOf("experiment", experiment.ItemKind, id.Experiment,
		plain(func(it *store.Item) (experiment.Experiment, error) {
			r, err := experiment.Decode(it)
			return r.Experiment, err
		})),
	kindOf("content_plan", plan.ItemKind, id.ContentPlan,
		func(ctx context.Context, v viewer, it store.Item) (plan.Plan, error) {
			p, err := decoded[plan.Plan](&it)
			if err != nil {
				return p, err
			}
			found, err := plan.The(ctx, v.db, p.FactoryID, p.ID)
			if err != nil {
				return p, err
			}
			if now, ok, err := plan.Found(found, it.Owner); err != nil || ok {
				return now, err
			}
			return p, nil
		}),
	kindOf("content_item", item.ItemKind, id.ContentItem,
		func(ctx context.Context, v viewer, it store.Item) (item.Item, error) {
			r, err := item.Decode(&it)
			if err == nil {
				err = item.Attach(ctx, v.db, r)
			}
			if err != nil {
				return item.Item{}, err
			}
			return r.View(ctx, v.names)
		}),
	kindOf("comment", engagement.Kind, id.Comment,
		plain(func(it *store.Item) (engagement.Comment, error) {
			r, err := engagement.Decode(it)
			return r.Comment, err
		})),
	kindOf("generation", studio.ItemKind, id.Generation,
		func(ctx context.Context, v viewer, it store.Item) (studio.Generation, error) {
			r, err := studio.Decode(&it)
			if err != nil {
				return studio.Generation{}, err
			}
			return r.View(ctx, v.names)
		}),
	kindOf("automation", automation.ItemKind, id.Automation, plain(decoded[automation.Details])),
	{name: "webhook", item: webhook.Kind, prefix: id.Webhook, of: reflect.TypeFor[webhook.Webhook](),
		partition: webhook.List,
		view: func(_ context.Context, v viewer, it store.Item) (any, error) {
			r, err := decoded[webhook.WebhookRecord](&it)
			return r.View(v.now), err
		}},
	kindOf("proposal", advice.ProposalItemKind, id.Proposal, plain(decoded[advice.Proposal])),
	kindOf("diagnosis", advice.DiagnosisItemKind, id.Diagnosis, plain(decoded[advice.Diagnosis])),
	kindOf("training", training.ItemKind, id.Training,
		plain(func(it *store.Item) (training.Training, error) {
			r, err := decoded[training.Record](it)
			return r.View(), err
		})),
	kindOf("chat", architect.Kind, id.Chat,
		plain(func(it *store.Item) (architect.Chat, error) {
			r, err := architect.Decode(it)
			if err != nil {
				return architect.Chat{}, err
			}
			return r.View(&auth.Principal{Scopes: auth.AllScopes()}), nil
		})),
	kindOf("draft", architect.DraftKind, id.Draft, plain(decoded[architect.Draft])),
	kindOf("balance_entry", ledger.Kind, id.LedgerEntry,
		plain(func(it *store.Item) (ledger.Entry, error) { return ledger.EntryOf(*it) })),
}

// Resource is a type of resource in exports.
type Resource struct {
	// Name is the type of its lines.
	Name string
	Type reflect.Type
}

// Resources returns the types of resources in exports, in their order.
func Resources() []Resource {
	all := make([]Resource, len(kinds))
	for i, k := range kinds {
		all[i] = Resource{k.name, k.of}
	}
	return all
}

// visible reports whether callers see a resource: a factory that was deleted stays in the table for a while.
func (k kind) visible(it store.Item) bool {
	return k.item != factory.Kind || it.Filters["state"] != factory.StateDeleted
}
