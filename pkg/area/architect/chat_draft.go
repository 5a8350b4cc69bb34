package architect

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// DraftKind is the kind of a draft in the table.
const DraftKind = "draft"

// Subject is the kind of resource that a draft would make.
type Subject string

// The subjects.
const (
	Factory     Subject = "factory"
	ContentPlan Subject = "content_plan"
	ContentItem Subject = "content_item"
	// The subjects of drafts that change what exists.
	FactoryChange     Subject = "factory_change"
	ContentItemChange Subject = "content_item_change"
)

// Subjects are all subjects.
var Subjects = []Subject{Factory, ContentPlan, ContentItem, FactoryChange, ContentItemChange}

// State is the state of a draft.
type State string

// The states. The last two are final.
const (
	Open      State = "open"
	Applied   State = "applied"
	Discarded State = "discarded"
)

// Draft is a resource, or a change of one, that the architect has prepared for the user to apply.
type Draft struct {
	resource.Resource
	// Chat in which it was made.
	ChatID string `json:"chat_id"`
	// What applying it creates or changes.
	Kind Subject `json:"kind" enum:"factory,content_plan,content_item,factory_change,content_item_change"`
	// Factory that it changes, or that the content plan or content item is for. Null for a new factory.
	FactoryID *string `json:"factory_id"`
	// Content item that it changes. Null for other kinds.
	ContentItemID *string `json:"content_item_id"`
	// Body of the operation that applying it carries out: createFactory, createContentPlan or createContentItem; of a
	// change, the merge patch of updateFactory or updateContentItem.
	Body map[string]any `json:"body"`
	// State of the draft. open: it can be changed and applied.
	State State `json:"state" enum:"open,applied,discarded"`
	// Id of what applying it has created or changed. Null until applied.
	ResultID *string `json:"result_id"`
}

// The filters of drafts.
const (
	SubjectFilter = "kind"
	StateFilter   = "state"
	factoryFilter = "factory"
)

// Partition returns the partition of store.ByParent that lists the drafts of a chat.
func Partition(o tenant.Owner, chatID string) string {
	return store.OwnerPartition(o, DraftKind) + "#" + chatID
}

// Entry returns the draft as an item of the table.
func (d *Draft) Entry(o tenant.Owner) (store.Item, error) {
	it, err := store.NewItem(DraftKind, o, d.ID, d)
	it.Parent = store.Key{PK: Partition(o, d.ChatID), SK: d.ID}
	it.Filters = d.filters()
	return it, err
}

// Into writes the changed draft into the item that it was read from.
func (d *Draft) Into(it store.Item) (store.Item, error) {
	it.Filters = d.filters()
	return it, it.Encode(d)
}

func (d *Draft) filters() map[string]string {
	f := map[string]string{SubjectFilter: string(d.Kind), StateFilter: string(d.State)}
	if d.FactoryID != nil {
		f[factoryFilter] = *d.FactoryID
	}
	return f
}

// DraftOf reads the draft of an item.
func DraftOf(it *store.Item) (d Draft, err error) { return d, it.Decode(&d) }

// cleanAtOnce is the number of drafts that Cleaner discards in one round trip.
const cleanAtOnce = 50

// Cleaner discards the open drafts of a factory that was deleted.
type Cleaner struct {
	DB  *store.DB
	Now func() time.Time
}

// Clean discards some of the open drafts of a factory, and reports whether there may be
// more. A draft that changes at the same time is left for the next call.
func (c Cleaner) Clean(ctx context.Context, o tenant.Owner, factoryID string) (more bool, err error) {
	q := store.Query{
		Index: store.ByOwner, Partition: store.OwnerPartition(o, DraftKind), Limit: cleanAtOnce, OldestFirst: true,
		Filters: map[string]string{factoryFilter: factoryID, StateFilter: string(Open)},
	}
	return c.DB.Some(ctx, q, func(it store.Item) error {
		d, err := DraftOf(&it)
		if err != nil {
			return err
		}
		d.State = Discarded
		d.Touch(c.Now())
		if it, err = d.Into(it); err != nil {
			return err
		}
		tx := &store.Tx{}
		tx.Replace(it)
		if err := c.DB.Commit(ctx, tx); !errors.Is(err, store.ErrConflict) {
			return err
		}
		return nil
	})
}
