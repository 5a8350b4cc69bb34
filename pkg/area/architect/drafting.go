package architect

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/record/resource"
)

// maxDrafts is the most drafts that one reply makes.
const maxDrafts = 10

// drafted is the input of the tools that make drafts.
type drafted struct {
	// Id of the factory. Absent: that of the chat.
	FactoryID string `json:"factory_id,omitempty"`
	// Id of the content item.
	ContentItemID string         `json:"content_item_id,omitempty"`
	Body          map[string]any `json:"body"`
}

// drafting returns a tool that makes drafts of a kind, for callers that may see them. Shape
// returns the JSON Schema of their body.
func drafting(name, description string, of Subject, shape func() (json.RawMessage, error),
	run func(*session, context.Context, drafted) (Draft, error)) tool {
	t := reading(name, description, []auth.Scope{scopes[of].read},
		func(d *session, ctx context.Context, in drafted) (any, error) {
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

func (d *session) draftFactory(_ context.Context, in drafted) (Draft, error) {
	if in.FactoryID != "" {
		return Draft{}, errs.Invalid("/factory_id", "is not for drafts of factories. Leave it out")
	}
	return d.newDraft(Factory, nil, in.Body), nil
}

func (d *session) draftPlan(_ context.Context, in drafted) (Draft, error) {
	of, err := d.factory(in.FactoryID)
	return d.newDraft(ContentPlan, &of, in.Body), err
}

func (d *session) draftFactoryChange(_ context.Context, in drafted) (Draft, error) {
	of, err := d.factory(in.FactoryID)
	return d.newDraft(FactoryChange, &of, in.Body), err
}

func (d *session) draftItemChange(ctx context.Context, in drafted) (Draft, error) {
	i, err := d.items.Find(ctx, in.ContentItemID)
	if err != nil {
		return Draft{}, err
	}
	d.read(i.ID)
	draft := d.newDraft(ContentItemChange, &i.FactoryID, in.Body)
	draft.ContentItemID = &i.ID
	return draft, nil
}

func (d *session) draftItem(_ context.Context, in drafted) (Draft, error) {
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
