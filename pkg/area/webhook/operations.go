package webhook

import (
	"cmp"
	"context"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/kind"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

type createBody struct {
	profile.ProfileMember
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

// Beside returns the keys of the factories that the change names.
func (b patchBody) Beside() []store.Key {
	keys, _ := b.FactoryIDs.keys()
	return keys
}

type createInput struct {
	Body createBody
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	op := httpapi.ScopedOps("webhook", "Webhooks", auth.WebhooksManage)
	kind.List[listInput](r, s.webhooks, httpapi.Op{ID: "listWebhooks", Summary: "List the webhooks",
		Description: "Secrets are not included. A test key lists the webhooks of the sandbox."}, s.shown)
	httpapi.Write(r, s.webhooks.Op(httpapi.Op{ID: "createWebhook", Summary: "Create a webhook",
		Description: "The webhook receives events that happen from now on, signed as Standard Webhooks defines. It " +
			"receives only events that the calling key may read: for example, `content.*` needs " +
			"`content:read`. A later change of the key's scopes takes effect on the next event. With " +
			"`fields`, only these members of `data.object` are sent, and the signature covers what is " +
			"sent. Only this response contains the signing secret: store it safely.\n\n" + targetGuide,
		Opens:  httpapi.Address | httpapi.Credential,
		Errors: []errs.Code{errs.NotFound, errs.ScopeEscalation, errs.InvalidState}},
		http.MethodPost, "/v1/webhooks"), s.create)
	kind.Get(r, s.webhooks, httpapi.Op{ID: "getWebhook", Summary: "Get a webhook", Description: "Includes its " +
		"health: the last success, the start of the current failures, and the response times of the receiver."},
		s.shown)
	kind.Update(r, s.webhooks, httpapi.Op{ID: "updateWebhook", Summary: "Change a webhook",
		Description: "Takes a JSON merge patch (RFC 7396). To change the address, `event_types`, `factory_ids` " +
			"or `fields`, the calling key needs the scopes of all events that `created_by` may read. Enabling a " +
			"webhook that was disabled for its failures clears them.", Opens: httpapi.Address,
		Errors: []errs.Code{errs.ScopeEscalation}}, s.changed, s.shown)
	kind.Delete(r, s.webhooks, httpapi.Op{ID: "deleteWebhook", Summary: "Delete a webhook",
		Description: "Its pending deliveries are dropped."}, s.ended, s.shown)

	rotate := op("rotateWebhookSecret", http.MethodPost, s.webhooks.Path+"/rotate-secret",
		"Rotate the signing secret of a webhook",
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
	resource.MetadataFilter
	profile.Filter
	// Only webhooks in these states, separated by commas.
	State []string `query:"state" filter:"state" enum:"enabled,disabled" nullable:"false"`
}

func (s *Service) shown(_ context.Context, f *kind.Found[WebhookRecord]) (Webhook, error) {
	return f.Record.View(s.now()), nil
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
	if to.Owner, err = in.Body.ProfileMember.Owner(ctx, tx, now); err != nil {
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
	if _, err := s.webhooks.Add(tx, now, to.Owner, r); err != nil {
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

func (s *Service) changed(ctx context.Context, tx *store.Tx, c *kind.Change[WebhookRecord, patchBody]) error {
	r := c.Record
	_, err := c.Body.FactoryIDs.keys()
	if err == nil {
		err = owns(c.Item.Owner, c.Body.FactoryIDs, c.Beside)
	}
	if err == nil {
		err = event.CheckFields(r.Fields, r.EventTypes)
	}
	if err == nil {
		err = s.redirect(ctx, c.Was, r)
	}
	if err == nil {
		err = s.requireChanging(ctx, c.Was, r)
	}
	if err != nil {
		return err
	}
	r.settle(c.Was, c.Now)
	if c.Was.FailingSince != nil && (r.GoesTo() != c.Was.GoesTo() || r.State != c.Was.State) {
		// Deliveries that wait for the old receiver go to the new one at once. Those of a disabled webhook fail.
		return s.wakeTimer(ctx, tx, r)
	}
	return nil
}

func (s *Service) ended(_ context.Context, tx *store.Tx, f *kind.Found[WebhookRecord]) error {
	tx.Count(CountKey(f.Item.Owner), -1, MaxPerOwner, store.ErrConflict)
	return nil
}

func (s *Service) rotate(ctx context.Context, tx *store.Tx, in *httpapi.IfMatch) (out NewWebhook, err error) {
	f, err := s.webhooks.Find(ctx, httpapi.PathID(ctx), *in)
	if err != nil {
		return out, err
	}
	r := f.Record
	if err := s.requireReading(ctx, r, ""); err != nil {
		return out, err
	}
	secret, key, err := NewSecret(ctx, s.random, s.envelope, refOf(ctx, r.ID))
	if err != nil {
		return out, err
	}
	now := s.now()
	r.Secrets = r.Secrets.Rotate(secret, now)
	if err := s.webhooks.Replace(tx, f); err != nil {
		return out, err
	}
	return NewWebhook{Webhook: r.View(s.now()), Secret: key.Reveal()}, nil
}

// Input is the type of the body of the operation that creates a webhook. Imports check what comes in by its schema.
var Input = reflect.TypeFor[createBody]()

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) {
	NewService(e.DB, e.Client(ClientOptions()), e.DeliverRole, e.Envelope, e.Now, e.Random).Register(r)
}

// limit is the number of calls of an operation that one webhook takes in a minute. Each
// call sends requests to the address of the webhook, which may belong to a third party.
type limit struct {
	operation string
	calls     int64
}

var (
	testLimit   = limit{"test", 10}
	replayLimit = limit{"replay", 2}
	// A delivery can be repeated as often as a sample can be sent, but a client that
	// repairs failed deliveries one by one makes many calls.
	redeliverLimit = limit{"redeliver", 60}
)

// limitWindow is the length of the window of these limits.
const limitWindow = time.Minute

// count counts a call in its transaction, which fails with rate_limited beyond the limit.
func (s *Service) count(tx *store.Tx, to Ref, l limit) {
	now := s.now()
	window := now.Truncate(limitWindow)
	end := window.Add(limitWindow)
	e := errs.New(errs.RateLimited, "A webhook takes %d calls of %s a minute. Repeat the request after the time in "+
		"Retry-After.", l.calls, l.operation).
		With(errs.RateContext{Limit: int(l.calls), WindowSeconds: int(limitWindow.Seconds())})
	e.RetryAfter = end.Sub(now)
	key := store.IDKey("limit#" + l.operation + "#" + to.Owner.String() + "#" + to.ID +
		"#" + strconv.FormatInt(window.Unix(), 10))
	tx.CountUntil(key, 1, l.calls, end, e)
}

// eventType is the type of the sample to send.
type eventType event.Type

// Schema describes the type in the OpenAPI document, and lets requests name known ones only.
func (eventType) Schema(huma.Registry) *huma.Schema {
	var all []event.Type
	for _, t := range event.Types {
		all = append(all, t.Type)
	}
	s := httpapi.Enum(all)
	s.Examples = []any{string(event.ContentGenerated)}
	return s
}

// eventPattern is a pattern of the events to get.
type eventPattern event.Pattern

// Schema describes a pattern in the OpenAPI document, and lets requests name known ones only.
func (eventPattern) Schema(huma.Registry) *huma.Schema {
	s := httpapi.Enum(event.Patterns())
	s.Description = "A type of event, an area such as content.*, or * for all. Areas and * include types that are " +
		"added later"
	s.Examples = []any{string(event.ContentGenerated)}
	return s
}

type testBody struct {
	// Type of the sample event. The webhook need not subscribe to it.
	EventType eventType `json:"event_type"`
}

type testInput struct{ Body testBody }

// registerTest puts the operation that sends a sample into the router.
func (s *Service) registerTest(r *httpapi.Router, op func(id, method, path, summary, description string) httpapi.Op) {
	test := op("testWebhook", http.MethodPost, "/v1/webhooks/{webhook_id}/test", "Send a sample to a webhook",
		"Sends a sample event of the given type, about a resource that does not exist. It is sent at once, even "+
			"while the receiver counts as down. It is signed and retried like any event, is sent to this webhook "+
			"only, and is not listed in the events of the account. Returns its delivery. A webhook takes 10 samples "+
			"a minute.").Opening(httpapi.Nothing)
	test.Status = http.StatusAccepted
	test.Errors = []errs.Code{errs.InvalidState}
	httpapi.Write(r, test, s.test)
}

func (s *Service) test(ctx context.Context, tx *store.Tx, in *testInput) (out Delivery, err error) {
	w, err := s.webhooks.Find(ctx, httpapi.PathID(ctx))
	if err != nil {
		return out, err
	}
	if err := requireEnabled(&w.Record.Webhook); err != nil {
		return out, err
	}
	now := s.now()
	sample, err := event.NewSample(now, w.Item.Owner, event.Type(in.Body.EventType))
	if err != nil {
		return out, err
	}
	at, _ := id.Time(sample.PK)
	d := NewDelivery(now, at, event.RefOf(sample), &w.Record.Webhook)
	d.Urgent = true
	if err := d.CreateIn(tx, now); err != nil {
		return out, err
	}
	tx.Create(sample, nil)
	s.count(tx, refOf(ctx, w.Record.ID), testLimit)
	return d.Delivery, nil
}

// Replay is a request to send the events that a webhook has missed.
type Replay struct {
	// Id of the webhook.
	WebhookID string `json:"webhook_id"`
	// Start of the period.
	Since resource.Time `json:"since"`
	// End of the period: the time of the request.
	Until resource.Time `json:"until"`
}

// usualReplay is the usual time until the first deliveries are listed.
const usualReplay = 5 * time.Second

// Pending returns the list of the deliveries of the period, and when to look.
func (r Replay) Pending() (path string, after time.Duration) {
	return "/v1/webhooks/" + r.WebhookID + "/deliveries?from=" + r.Since.Format(time.RFC3339Nano) +
		"&to=" + r.Until.Format(time.RFC3339Nano), usualReplay
}

type replayBody struct {
	// Start of the period (RFC 3339), at most 30 days ago.
	Since time.Time `json:"since" example:"2026-05-01T00:00:00Z"`
}

type replayInput struct{ Body replayBody }

// registerReplay puts the operation into the router.
func (s *Service) registerReplay(r *httpapi.Router, op func(id, method, path, summary, description string) httpapi.Op) {
	replay := op("replayEvents", http.MethodPost, "/v1/webhooks/{webhook_id}/replay",
		"Replay the events that a webhook has missed",
		"Delivers, in the background, all events since the given time that match the webhook and have not been "+
			"delivered to it: those whose delivery failed or waits for its next attempt, with all retries from the "+
			"beginning, and those from before the webhook was created. Each is sent once: the attempt that an event "+
			"has waited for is made now instead. Events that were delivered, or whose attempt is under way, are not "+
			"affected. A webhook takes 2 replays a minute.").Opening(httpapi.Nothing)
	replay.Status = http.StatusAccepted
	replay.Errors = []errs.Code{errs.InvalidState}
	httpapi.Write(r, replay, s.replay)
}

func (s *Service) replay(ctx context.Context, tx *store.Tx, in *replayInput) (out Replay, err error) {
	w, err := s.webhooks.Find(ctx, httpapi.PathID(ctx))
	if err != nil {
		return out, err
	}
	now, since := s.now(), resource.Instant(in.Body.Since)
	switch {
	case !since.Before(now):
		return out, errs.Invalid("/since", "must be in the past")
	case since.Before(now.Add(-KeepDeliveries)):
		return out, errs.Invalid("/since", "must be at most 30 days ago: older events are not kept")
	}
	if err := requireEnabled(&w.Record.Webhook); err != nil {
		return out, err
	}
	if err := NewReplay(tx, refOf(ctx, w.Record.ID), since.Time, now); err != nil {
		return out, err
	}
	s.count(tx, refOf(ctx, w.Record.ID), replayLimit)
	return Replay{WebhookID: w.Record.ID, Since: since, Until: resource.Instant(now)}, nil
}

// ReplayKind is the kind of the tasks that replay missed events. Their subject is the
// webhook; each step replays a page of events.
const ReplayKind task.Kind = "replay"

// replayTime bounds the duration of a replay.
const replayTime = 24 * time.Hour

// EndpointReplay is the payload of such a task.
type EndpointReplay struct {
	// From and To bound the ids of the events.
	From string `json:"from"`
	To   string `json:"to"`
	// Cursor is the end of the page before.
	Cursor *store.Cursor `json:"after,omitempty"`
}

// NewReplay adds the task to a transaction that replays the events from since until now.
func NewReplay(tx *store.Tx, to Ref, since, now time.Time) error {
	t := task.Task{
		Message: task.Message{
			ID: "task#replay#" + id.New(id.Webhook, now), Kind: ReplayKind, Queue: topology.Replay, Subject: to.ID,
			Owner: to.Owner,
		},
		Deadline: now.Add(replayTime),
	}
	return task.Create(tx, now, t, EndpointReplay{From: id.First(id.Event, since), To: id.First(id.Event, now)})
}
