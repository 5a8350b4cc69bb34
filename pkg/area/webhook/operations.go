package webhook

import (
	"cmp"
	"context"
	"net/http"
	"reflect"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

type createBody struct {
	profile.Given
	// URL that receives the events: https on port 443 with a public address. Send this or destination.
	URL string `json:"url,omitempty" minLength:"1" maxLength:"2048" example:"https://crm.example.com/hooks/content"`
	// Event bus or queue in your own AWS account. Send this or url.
	Destination *destinationBody `json:"destination,omitempty"`
	// Subscribed events: types, areas such as content.*, or * for all.
	EventTypes []eventPattern `json:"event_types" format:"event-pattern" nullable:"false"`
	FactoryIDs factoryIDs     `json:"factory_ids,omitempty"`
	Fields     fields         `json:"fields,omitempty"`
	// Description of the webhook.
	Description string `json:"description,omitempty" format:"line" maxLength:"200" example:"CRM"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

// Rules refuses a body that does not have one of url and destination.
func (b createBody) Rules() error {
	switch {
	case b.Destination == nil && b.URL == "":
		return errs.Invalid("/url", "send url, or a destination in your AWS account")
	case b.Destination != nil && b.URL != "":
		return errs.Invalid("/destination", "cannot be sent together with url: send one of the two")
	}
	return nil
}

type patchBody struct {
	// URL that receives the events: https on port 443 with a public address. Only for a webhook with a url.
	URL string `json:"url,omitempty" minLength:"1" maxLength:"2048" example:"https://crm.example.com/hooks/content"`
	// Event bus or queue in your own AWS account. Only for a webhook with a destination.
	Destination *destinationPatch `json:"destination,omitempty"`
	// Subscribed events: types, areas such as content.*, or * for all.
	EventTypes []eventPattern `json:"event_types,omitempty" format:"event-pattern" nullable:"false"`
	FactoryIDs factoryIDs     `json:"factory_ids,omitempty"`
	Fields     fields         `json:"fields,omitempty"`
	// Description of the webhook.
	Description string `json:"description,omitempty" format:"line" maxLength:"200" example:"CRM"`
	// A disabled webhook receives no events, and its pending deliveries fail.
	State string `json:"state,omitempty" enum:"enabled,disabled"`
	// Pairs to set. A null value removes that pair; null removes all.
	Metadata resource.MetadataPatch `json:"metadata,omitempty" nullable:"true"`
}

type createInput struct {
	Body createBody
}

// Path is the path of one webhook. It is exported because parameters of embedded types are found in exported ones only.
type Path struct {
	// Id of the webhook.
	ID string `path:"webhook_id" example:"whk_01h455vb4pex5vsknk084sn02q"`
}

type patchInput struct {
	Path
	httpapi.IfMatch
	Body patchBody
}

type deleteInput struct {
	Path
	httpapi.IfMatch
}

type rotateInput struct {
	Path
	httpapi.IfMatch
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	const collection, one = "/v1/webhooks", "/v1/webhooks/{webhook_id}"
	op := httpapi.ScopedOps("webhook", "Webhooks", auth.WebhooksManage)
	list := op("listWebhooks", http.MethodGet, collection, "List the webhooks", "Secrets are not included. A test "+
		"key lists the webhooks of the sandbox.").Opening(httpapi.Nothing)
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.list)

	create := op("createWebhook", http.MethodPost, collection, "Create a webhook",
		"The webhook receives events that happen from now on, signed as Standard Webhooks defines. It "+
			"receives only events that the calling key may read: for example, `content.*` needs "+
			"`content:read`. A later change of the key's scopes takes effect on the next event. With "+
			"`fields`, only these members of `data.object` are sent, and the signature covers what is "+
			"sent. Only this response contains the signing secret: store it safely.\n\n"+targetGuide).
		Opening(httpapi.Address | httpapi.Credential)
	create.Status = http.StatusCreated
	create.Errors = []errs.Code{errs.NotFound, errs.ScopeEscalation, errs.InvalidState}
	httpapi.Write(r, create, s.create)

	httpapi.Read(r, op("getWebhook", http.MethodGet, one, "Get a webhook", "Includes its health: the last success, "+
		"the start of the current failures, and the response times of the receiver.").Opening(httpapi.Nothing), s.get)

	update := op("updateWebhook", http.MethodPatch, one, "Change a webhook", "Takes a JSON merge patch (RFC 7396). "+
		"To change the address, `event_types` or `factory_ids`, the calling key needs the scopes of all events that "+
		"`created_by` may read. Enabling a webhook that was disabled for its failures clears them.").
		Opening(httpapi.Address)
	update.Errors = []errs.Code{errs.ScopeEscalation, errs.VersionMismatch}
	httpapi.Write(r, update, s.update)

	remove := op("deleteWebhook", http.MethodDelete, one, "Delete a webhook", "Its pending deliveries are dropped.").
		Opening(httpapi.Deletion)
	remove.Errors = []errs.Code{errs.VersionMismatch}
	httpapi.Write(r, remove, s.remove)

	rotate := op("rotateWebhookSecret", http.MethodPost, one+"/rotate-secret", "Rotate the signing secret of a webhook",
		"For 24 hours all requests are signed with both the new and the previous secret, so that the receiver can "+
			"change over without missing events. The calling key needs the scopes of all events that `created_by` "+
			"may read. Only this response contains the new secret.").Opening(httpapi.Credential)
	rotate.Errors = []errs.Code{errs.ScopeEscalation, errs.VersionMismatch}
	httpapi.Write(r, rotate, s.rotate)

	s.registerTest(r, op)
	s.registerReplay(r, op)
	s.registerDeliveries(r, op)
}

type listInput struct {
	httpapi.PageInput
	resource.Tagged
	profile.Filter
	// Only webhooks in these states, separated by commas.
	State []string `query:"state" enum:"enabled,disabled" nullable:"false"`
}

func (s *Service) list(ctx context.Context, in *listInput) (httpapi.Page[Webhook], error) {
	q := store.Query{Index: store.Table, Partition: List(ownerOf(ctx)), Filters: in.Filter.Into(
		map[string]string{StateFilter: httpapi.AnyOf(in.State)})}
	in.Tagged.Into(&q)
	return httpapi.ListItems(ctx, s.db, q, in.PageInput, func(it store.Item) (Webhook, error) {
		var r WebhookRecord
		err := it.Decode(&r)
		return r.View(s.now()), err
	})
}

func (s *Service) create(ctx context.Context, tx *store.Tx, in *createInput) (out NewWebhook, err error) {
	types := names(in.Body.EventTypes)
	if err := cmp.Or(requireReadable(ctx, types), event.CheckFields(in.Body.Fields, types)); err != nil {
		return out, err
	}
	url, target, err := s.place(ctx, in.Body)
	if err != nil {
		return out, err
	}
	now := s.now()
	to := refOf(ctx, id.New(id.Webhook, now))
	if to.Owner, err = in.Body.Given.Owner(ctx, tx, now); err != nil {
		return out, err
	}
	if err := s.checkFactories(ctx, to.Owner, in.Body.FactoryIDs); err != nil {
		return out, err
	}
	secret, key, err := NewSecret(ctx, s.random, s.envelope, to)
	if err != nil {
		return out, err
	}
	r := &WebhookRecord{
		Webhook: Webhook{
			Resource:  resource.New(to.ID, now, in.Body.Metadata),
			ProfileID: to.ProfileID(), URL: url, Destination: target, EventTypes: types,
			FactoryIDs: append([]string{}, in.Body.FactoryIDs...), Fields: append([]string{}, in.Body.Fields...),
			Description: resource.Text(in.Body.Description), State: StateEnabled,
		},
		Secrets: Secrets{secret},
	}
	r.SetMaker(auth.FromContext(ctx))
	if err := s.add(tx, to, r); err != nil {
		return out, err
	}
	return NewWebhook{Webhook: r.View(s.now()), Secret: key.Reveal()}, nil
}

// place returns the destination of a new webhook: either a URL or a target in AWS.
func (s *Service) place(ctx context.Context, body createBody) (url *string, target *Target, err error) {
	if err := body.Rules(); err != nil {
		return nil, nil, err
	}
	if body.Destination == nil {
		return &body.URL, nil, s.checkURL(ctx, body.URL)
	}
	target, err = s.newTarget(*body.Destination)
	return nil, target, err
}

func names(patterns []eventPattern) []string {
	out := make([]string, len(patterns))
	for i, p := range patterns {
		out[i] = string(p)
	}
	return out
}

func (s *Service) get(ctx context.Context, in *Path) (Webhook, error) {
	r, _, err := s.find(ctx, in.ID)
	return r.View(s.now()), err
}

func (s *Service) update(ctx context.Context, tx *store.Tx, in *patchInput) (out Webhook, err error) {
	r, it, err := s.findNaming(ctx, in.ID, in.Body.FactoryIDs, in.IfMatch)
	if err != nil {
		return out, err
	}
	set, err := httpapi.MergePatch(ctx, settingsOf(&r))
	if err != nil {
		return out, err
	}
	if err := event.CheckFields(set.Fields, set.EventTypes); err != nil {
		return out, err
	}
	was, state, failing, now := r.GoesTo(), r.State, r.FailingSince != nil, s.now()
	if err := s.redirect(ctx, &r, set); err != nil {
		return out, err
	}
	moved := r.GoesTo() != was
	if err := s.requireChanging(ctx, &r, set, moved); err != nil {
		return out, err
	}
	apply(&r, set, moved, now)
	if err := it.Encode(r); err != nil {
		return out, err
	}
	tx.Replace(it)
	if failing && (moved || r.State != state) {
		// Deliveries that wait for the old receiver go to the new one at once. Those of a disabled webhook fail.
		err = s.wakeTimer(ctx, tx, &r)
	}
	return r.View(now), err
}

func (s *Service) remove(ctx context.Context, tx *store.Tx, in *deleteInput) (out Webhook, err error) {
	r, it, err := s.find(ctx, in.ID, in.IfMatch)
	if err != nil {
		return out, err
	}
	tx.Delete(it)
	tx.Count(CountKey(it.Owner), -1, MaxPerOwner, store.ErrConflict)
	return r.View(s.now()), nil
}

func (s *Service) rotate(ctx context.Context, tx *store.Tx, in *rotateInput) (out NewWebhook, err error) {
	r, it, err := s.find(ctx, in.ID, in.IfMatch)
	if err != nil {
		return out, err
	}
	if err := s.requireReading(ctx, &r, ""); err != nil {
		return out, err
	}
	secret, key, err := NewSecret(ctx, s.random, s.envelope, refOf(ctx, r.ID))
	if err != nil {
		return out, err
	}
	now := s.now()
	r.Secrets = r.Secrets.Rotate(secret, now)
	r.Touch(now)
	if err := it.Encode(r); err != nil {
		return out, err
	}
	tx.Replace(it)
	return NewWebhook{Webhook: r.View(s.now()), Secret: key.Reveal()}, nil
}

// Input is the type of the body of the operation that creates a webhook. Imports check what comes in by its schema.
var Input = reflect.TypeFor[createBody]()
