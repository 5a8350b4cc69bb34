package architect

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
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
	Kind Subject `json:"kind" filter:"kind" enum:"factory,content_plan,content_item,factory_change,content_item_change"`
	// Factory that it changes, or that the content plan or content item is for. Null for a new factory.
	FactoryID *string `json:"factory_id" filter:"factory"`
	// Content item that it changes. Null for other kinds.
	ContentItemID *string `json:"content_item_id"`
	// Body of the operation that applying it carries out: createFactory, createContentPlan or createContentItem; of a
	// change, the merge patch of updateFactory or updateContentItem.
	Body map[string]any `json:"body"`
	// State of the draft. open: it can be changed and applied.
	State State `json:"state" filter:"state" enum:"open,applied,discarded"`
	// Id of what applying it has created or changed. Null until applied.
	ResultID *string `json:"result_id"`
}

// Partition returns the partition of store.ByParent that lists the drafts of a chat.
func Partition(o tenant.Owner, chatID string) string {
	return store.OwnerPartition(o, DraftKind) + "#" + chatID
}

// cleanAtOnce is the number of drafts that Cleaner discards in one round trip.
const cleanAtOnce = 50

// Cleaner discards the open drafts of a factory that was deleted.
type Cleaner struct {
	DB  *store.DB
	Now func() time.Time
}

// Clean discards some of the open drafts of a factory, and reports whether there may be more.
func (c Cleaner) Clean(ctx context.Context, o tenant.Owner, factoryID string) (more bool, err error) {
	q := store.Query{
		Index: store.ByOwner, Partition: store.OwnerPartition(o, DraftKind), Limit: cleanAtOnce, OldestFirst: true,
		Filters: map[string]string{"factory": factoryID, "state": string(Open)},
	}
	return c.DB.ChangeSome(ctx, q, func(tx *store.Tx, it store.Item) error {
		var d Draft
		if err := it.Decode(&d); err != nil || d.State != Open {
			return err
		}
		d.State = Discarded
		d.Touch(c.Now())
		return tx.Rewrite(it, d)
	})
}

type updateBody struct {
	// Merge patch (RFC 7396) of the body. The result must be a body that its operation accepts.
	Body map[string]any `json:"body,omitempty"`
	// discarded: the draft can no longer be applied.
	State State `json:"state,omitempty" enum:"discarded"`
	// Pairs to set. A null value removes that pair; null removes all.
	Metadata resource.MetadataPatch `json:"metadata,omitempty" nullable:"true"`
}

type updateInput struct {
	httpapi.IfMatch
	Body updateBody
}

func (s *Service) registerDrafts(r *httpapi.Router) {
	httpapi.Write(r, s.drafts.Op(httpapi.Op{ID: "updateDraft", Summary: "Change a draft",
		Description: "Takes a JSON merge patch (RFC 7396). The key needs the scope of the operation that applying " +
			"carries out as well. `body` is validated as the operation validates it that applying carries out. Set " +
			"`state` to discard the draft.",
		Opens: httpapi.Nothing, Errors: []errs.Code{errs.InvalidState, errs.UnsupportedModel},
		FixedMembers: map[string]string{"kind": "ask the architect for another draft",
			"factory_id":      "ask the architect for another draft",
			"content_item_id": "ask the architect for another draft"},
	}, http.MethodPatch, s.drafts.Path), s.update)
	httpapi.Write(r, s.drafts.Op(httpapi.Op{ID: "applyDraft", Summary: "Apply a draft",
		Description: "Carries out `POST /v1/factories`, `POST /v1/factories/{factory_id}/content-plan` or `POST " +
			"/v1/content-items` with the body of the draft, or for a change `PATCH /v1/factories/{factory_id}` or " +
			"`PATCH /v1/content-items/{content_item_id}`, and shows the id of what was created or changed as " +
			"`result_id`. The key needs the scope of that operation as well, and the cost is reserved as by that " +
			"operation. A draft is applied once, in the version that `If-Match` names, which is required: another " +
			"key may have changed the draft since you read it. A refusal names the member of the draft's body.",
		Status: http.StatusCreated, Opens: httpapi.Spending | httpapi.Publishing,
		Errors: []errs.Code{errs.InvalidState, errs.ValidationFailed, errs.UnsupportedModel,
			errs.InsufficientBalance, errs.SpendLimitReached, errs.QueueFull},
	}, http.MethodPost, s.drafts.Path+"/apply"), s.apply)
}

// open refuses a draft that has been applied or discarded.
func open(d Draft) error {
	if d.State == Open {
		return nil
	}
	return errs.New(errs.InvalidState, "The draft is %s already. Ask the architect for another one.", d.State).
		In(string(d.State))
}

func (s *Service) update(ctx context.Context, tx *store.Tx, in *updateInput) (d Draft, err error) {
	f, err := s.draft(ctx)
	if err != nil {
		return d, err
	}
	if err := in.Check(f.Record.Version); err != nil {
		return d, err
	}
	if err := open(*f.Record); err != nil {
		return d, err
	}
	if d, err = httpapi.MergeRecord(ctx, *f.Record); err != nil {
		return d, err
	}
	d.Metadata = d.Metadata.OrEmpty()
	if httpapi.Patched(ctx)["body"] {
		if err := s.check(ctx, d); err != nil {
			return d, err
		}
		d.FactoryID = subject(d)
	}
	f.Record = &d
	err = s.drafts.Replace(tx, f)
	return d, err
}

// subject returns the factory that a draft is for. A content item has it in its body.
func subject(d Draft) *string {
	if of, ok := d.Body["factory_id"].(string); ok && d.Kind == ContentItem {
		return &of
	}
	return d.FactoryID
}

func (s *Service) apply(ctx context.Context, tx *store.Tx, in *httpapi.IfMatch) (out Draft, err error) {
	f, err := s.draft(ctx)
	if err != nil {
		return out, err
	}
	d := f.Record
	if err := open(*d); err != nil {
		return out, err
	}
	// A draft that has ended reports that, whatever version the caller expects.
	if err := in.Require(d.Version); err != nil {
		return out, err
	}
	made, err := s.carryOut(ctx, tx, *d)
	if err != nil {
		return out, err
	}
	d.State, d.ResultID = Applied, &made
	err = s.drafts.Replace(tx, f)
	return *d, err
}

// carryOut adds the resource or the change of a draft to the transaction, and returns the id.
func (s *Service) carryOut(ctx context.Context, tx *store.Tx, d Draft) (string, error) {
	switch d.Kind {
	case Factory:
		f, err := s.factories.CreateFrom(ctx, tx, d.Body)
		if err != nil {
			return "", err
		}
		return f.ID, s.bind(ctx, tx, d.ChatID, f.ID)
	case ContentPlan:
		p, err := s.plans.CreateFrom(ctx, tx, *d.FactoryID, d.Body)
		return p.ID, err
	case FactoryChange:
		f, err := s.factories.ChangeFrom(ctx, tx, *d.FactoryID, d.Body)
		return f.ID, err
	case ContentItemChange:
		i, err := s.items.ChangeFrom(ctx, tx, *d.ContentItemID, d.Body)
		return i.ID, err
	default:
		i, err := s.items.CreateFrom(ctx, tx, d.Body)
		return i.ID, err
	}
}

// bind has a chat that is about no factory be about the one that it has led to.
func (s *Service) bind(ctx context.Context, tx *store.Tx, chatID, factoryID string) error {
	f, err := s.chats.FindWith(ctx, chatID, nil)
	switch {
	case errs.CodeOf(err) == errs.NotFound: // a reset of the sandbox is removing it
		return nil
	case err != nil || f.Record.FactoryID != nil:
		return err
	}
	f.Record.FactoryID = &factoryID
	return s.chats.Replace(tx, f)
}

// maxDrafts is the most drafts that one reply makes.
const maxDrafts = 10

// draftInput is the input of the tools that make drafts.
type draftInput struct {
	// Id of the factory. Absent: that of the chat.
	FactoryID string `json:"factory_id,omitempty"`
	// Id of the content item.
	ContentItemID string         `json:"content_item_id,omitempty"`
	Body          map[string]any `json:"body"`
}

// drafting returns a tool that makes drafts of a kind, for callers that may see them. Shape
// returns the JSON Schema of their body.
func drafting(name, description string, of Subject, shape func() (json.RawMessage, error),
	run func(*session, context.Context, draftInput) (Draft, error)) tool {
	t := reading(name, description, []auth.Scope{scopes[of].read},
		func(d *session, ctx context.Context, in draftInput) (any, error) {
			if len(d.drafts) >= maxDrafts {
				return nil, errs.New(errs.QueueFull, "A reply makes at most %d drafts. Tell the user to ask for the "+
					"rest in another message.", maxDrafts)
			}
			draft, err := run(d, ctx, in)
			if err == nil {
				err = d.check(ctx, draft)
			}
			if err != nil {
				return nil, err
			}
			d.drafts = append(d.drafts, draft)
			return map[string]any{"draft": map[string]any{"id": draft.ID, "kind": draft.Kind,
				"factory_id": draft.FactoryID, "content_item_id": draft.ContentItemID, "body": draft.Body}}, nil
		})
	t.input = func() (json.RawMessage, error) {
		body, err := shape()
		if err != nil {
			return nil, err
		}
		properties, required := map[string]any{"body": body}, []string{"body"}
		switch of {
		case Factory:
		case ContentItemChange:
			properties["content_item_id"] = map[string]any{"type": "string", "description": "Id of the content item"}
			required = append(required, "content_item_id")
		default:
			properties["factory_id"] = map[string]any{"type": "string",
				"description": "Id of the factory. Absent: that of the chat"}
		}
		return json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required,
			"additionalProperties": false})
	}
	return t
}

// newDraft returns an open draft.
func (d *session) newDraft(of Subject, factoryID *string, body map[string]any) Draft {
	now := d.now()
	return Draft{Resource: resource.New(id.New(id.Draft, now), now, nil), ChatID: d.chatID, Kind: of,
		FactoryID: factoryID, Body: body, State: Open}
}

func (d *session) draftFactory(_ context.Context, in draftInput) (Draft, error) {
	if in.FactoryID != "" {
		return Draft{}, errs.Invalid("/factory_id", "is not for drafts of factories. Leave it out")
	}
	return d.newDraft(Factory, nil, in.Body), nil
}

func (d *session) draftPlan(_ context.Context, in draftInput) (Draft, error) {
	of, err := d.factory(in.FactoryID)
	return d.newDraft(ContentPlan, &of, in.Body), err
}

func (d *session) draftFactoryChange(_ context.Context, in draftInput) (Draft, error) {
	of, err := d.factory(in.FactoryID)
	return d.newDraft(FactoryChange, &of, in.Body), err
}

func (d *session) draftItemChange(ctx context.Context, in draftInput) (Draft, error) {
	i, err := d.items.Find(ctx, in.ContentItemID)
	if err != nil {
		return Draft{}, err
	}
	d.read(i.ID)
	draft := d.newDraft(ContentItemChange, &i.FactoryID, in.Body)
	draft.ContentItemID = &i.ID
	return draft, nil
}

func (d *session) draftItem(_ context.Context, in draftInput) (Draft, error) {
	named, _ := in.Body["factory_id"].(string)
	if in.FactoryID != "" {
		named = in.FactoryID
	}
	of, err := d.factory(named)
	// The draft is checked with the settings of its factory.
	if !d.caller.Has(auth.FactoriesRead) && !d.caller.Has(auth.ContentWrite) {
		return Draft{}, errs.New(errs.InsufficientScope, "The user's API key lacks the scope %s.",
			auth.FactoriesRead)
	}
	body := maps.Clone(in.Body)
	if body == nil {
		body = map[string]any{}
	}
	body["factory_id"] = of
	return d.newDraft(ContentItem, &of, body), err
}
