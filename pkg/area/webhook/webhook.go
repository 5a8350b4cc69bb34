// Package webhook holds webhooks and the deliveries of events to them. A delivery is a task: dispatch.go makes one for
// each webhook that wants an event, attempt.go makes its attempts, and receiver.go keeps the state of receivers.
// Service.Register in operations.go has the operations.
package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/httpapi/kind"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// NewWebhook is a webhook together with its signing secret.
type NewWebhook struct {
	Webhook
	// Signing secret, for a Standard Webhooks library. It is not shown again. Null in a repeat later than 10 minutes.
	Secret string `json:"secret" nullable:"true" example:"whsec_EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEE="`
	// Time at which the secret was made and shown. Only in a repeat that leaves it out.
	SecretShownAt *resource.Time `json:"secret_shown_at,omitempty"`
}

// Concealed returns the webhook without its secret.
func (w NewWebhook) Concealed(made resource.Time) any {
	w.SecretShownAt = &made
	return struct {
		NewWebhook
		Secret *string `json:"secret"`
	}{NewWebhook: w}
}

// Grants returns nothing: the secret only verifies the requests to the webhook's address.
func (w NewWebhook) Grants() []auth.Scope { return nil }

// Service makes and changes webhooks.
type Service struct {
	db        *store.DB
	urls      safehttp.Checker
	principal arn.ARN
	envelope  *seal.Envelope
	now       func() time.Time
	random    io.Reader
	webhooks  *kind.Kind[WebhookRecord]
}

// NewService returns the service. The principal is the role of the deliver function, which customers allow to assume
// their roles. Secrets are drawn from random and sealed by the envelope.
func NewService(db *store.DB, urls safehttp.Checker, principal arn.ARN, envelope *seal.Envelope, now func() time.Time,
	random io.Reader) *Service {
	return &Service{db, urls, principal, envelope, now, random, webhooks.On(db, now)}
}

func ownerOf(ctx context.Context) tenant.Owner { return auth.FromContext(ctx).Owner }

// refOf names a webhook of the caller.
func refOf(ctx context.Context, webhookID string) Ref {
	return Ref{Owner: ownerOf(ctx), ID: webhookID}
}

var webhooks = kind.Kind[WebhookRecord]{Name: Kind, ID: id.Webhook, Path: "/v1/webhooks/{webhook_id}",
	Function: "webhook", Tag: "Webhooks", Reads: auth.WebhooksManage, Writes: auth.WebhooksManage, Partition: List,
	Count: func(tx *store.Tx, _ time.Time, it *store.Item) {
		tx.Count(CountKey(it.Owner), 1, MaxPerOwner,
			errs.New(errs.InvalidState, "There are already %d webhooks in this mode or profile, which is the maximum. "+
				"Delete one first.", MaxPerOwner))
	}}

// requireEnabled refuses a request that would send to a disabled webhook.
func requireEnabled(w *Webhook) error {
	if w.State != StateEnabled {
		return errs.New(errs.InvalidState, "The webhook is disabled. Enable it first.").
			In(w.State, "update", "rotate_secret", "delete")
	}
	return nil
}

// checkURL refuses an address that may not be called.
func (s *Service) checkURL(ctx context.Context, raw string) error {
	return safehttp.InvalidURL(s.urls.CheckURL(ctx, raw), "/url")
}

// redirect checks the destination of a webhook that was another before, or refuses it. A webhook that has a URL keeps
// one, and one that has a destination in AWS keeps one of its type.
func (s *Service) redirect(ctx context.Context, was, r *WebhookRecord) error {
	switch {
	case was.Destination == nil && r.Destination != nil:
		return errs.Invalid("/destination", "cannot be set on a webhook that has a url. Create another webhook.")
	case was.Destination != nil && r.URL != nil:
		return errs.Invalid("/url", "cannot be set on a webhook that has a destination. Create another webhook.")
	case r.GoesTo() == was.GoesTo():
		return nil
	case was.Destination != nil:
		return s.aim(r.Destination)
	}
	return s.checkURL(ctx, *r.URL)
}

// settle completes a webhook that was another before. One that is enabled or sends elsewhere starts afresh: earlier
// failures do not count any more.
func (r *WebhookRecord) settle(was *WebhookRecord, now time.Time) {
	enabled, moved := r.State == StateEnabled && was.State != StateEnabled, r.GoesTo() != was.GoesTo()
	if enabled || moved {
		r.FailingSince = nil
	}
	if moved {
		r.Latencies = Latencies{} // they were another receiver's
	}
	switch {
	case r.State == StateEnabled:
		r.DisabledReason = nil
	case was.State != StateDisabled:
		r.Disable(ReasonRequested)
	}
	r.FactoryIDs, r.Fields = append([]string{}, r.FactoryIDs...), append([]string{}, r.Fields...)
	if enabled {
		at := resource.Instant(now).Time
		r.EnabledAt = &at
	}
}

// Kind is the kind of a webhook's item.
const Kind = "webhook"

// MaxPerOwner bounds the webhooks of an account and mode, and of each profile in it.
const MaxPerOwner = 20

// PerRead is the number of webhooks that one read returns. Dispatch reads all of an account for each event.
const PerRead = 100

// The states of a webhook.
const (
	StateEnabled  = "enabled"
	StateDisabled = "disabled"
)

// The reasons for which a webhook is disabled.
const (
	ReasonRequested = "requested" // by a call
	ReasonGone      = "gone"      // the receiver answered 410
	ReasonFailing   = "failing"   // see FailingLimit
	// The key that made the webhook was revoked together with all that it had made.
	ReasonMakerRevoked = "maker_revoked"
)

// Webhook is a webhook as callers see it.
type Webhook struct {
	resource.Resource
	// Profile that it belongs to: it receives only events of this profile. Null: the account as a whole.
	ProfileID *tenant.Profile `json:"profile_id"`
	// URL that receives the events. Null if the webhook has a destination.
	URL *string `json:"url" format:"uri" example:"https://crm.example.com/hooks/content"`
	// Event bus or queue that receives the events. Null if the webhook has a url.
	Destination *Target `json:"destination"`
	// Subscribed events: types, areas such as content.*, or * for all.
	EventTypes []string `json:"event_types" nullable:"false" example:"[\"content.*\",\"balance.low\"]"`
	// Only events of these factories. Empty: all events, including those without a factory, such as balance.low.
	FactoryIDs []string `json:"factory_ids" nullable:"false"`
	// Only these members of data.object are sent, and its id. Empty: all members.
	Fields []string `json:"fields" nullable:"false" example:"[\"state\",\"publications\"]"`
	// Id of the API key, or of the person, that created the webhook. It receives only events that its creator may read.
	CreatedBy string `json:"created_by" example:"key_01h455vb4pex5vsknk084sn02q"`
	// Description of the webhook.
	Description resource.Text `json:"description"`
	// State of the webhook. A disabled webhook receives no events.
	State string `json:"state" filter:"state" enum:"enabled,disabled"`
	// Reason why it is disabled. requested: by a request. gone: the receiver returned 410. failing: all attempts failed
	// for 5 days, and one at an event that was retried for 12 hours. maker_revoked: created_by was revoked with
	// include_created. Null while enabled.
	DisabledReason *string `json:"disabled_reason" enum:"requested,gone,failing,maker_revoked"`
	// Time of the first failure since the last success. Null if the last attempt succeeded.
	FailingSince *resource.Time `json:"failing_since"`
	// Time of the last success, to the minute. Null: never.
	LastSuccessAt *resource.Time `json:"last_success_at"`
	// Response times of the receiver in the current and the previous hour, for all statuses. The values are approximate
	// and updated about once a minute while attempts succeed. Null without responses.
	LatencyMS *Latency `json:"latency_ms"`
}

// The types of destinations in AWS accounts.
const (
	KindEventBridge = "eventbridge"
	KindSQS         = "sqs"
)

// Target is a destination in a customer's AWS account.
type Target struct {
	// Kind of the destination. eventbridge: an event bus. sqs: a standard queue.
	Kind string `json:"kind" enum:"eventbridge,sqs"`
	// ARN of the event bus or queue.
	ARN string `json:"arn" example:"arn:aws:sqs:eu-central-1:111122223333:content-events"`
	// ARN of the role that the service assumes to send events.
	RoleARN string `json:"role_arn" example:"arn:aws:iam::111122223333:role/content-automation-events"`
	// AWS region of the bus or queue.
	Region string `json:"region" example:"eu-central-1"`
	// Id that the trust policy of the role must require as sts:ExternalId. It is generated by the service, never
	// changes, and keeps other customers from using the role.
	ExternalID string `json:"external_id" example:"WOBMUWLHUPSQQTVYPVAJ5JAWMA"`
	// ARN of the principal that assumes the role, for its trust policy.
	PrincipalARN string `json:"principal_arn" example:"arn:aws:iam::444455556666:role/acme-prod-eu-central-1-deliver"`
}

// WebhookRecord is the stored document of a webhook.
type WebhookRecord struct {
	Webhook
	Secrets Secrets `json:"secrets"`
	// MakerScopes are the scopes of a person when it made the webhook. The scopes of an API
	// key are read from the key, so that a change takes effect on the next event.
	MakerScopes []auth.Scope `json:"maker_scopes,omitempty"`
	// EnabledAt is the time when the webhook was last enabled again, or nil if it never was.
	EnabledAt *time.Time `json:"enabled_at,omitempty"`
	// Latencies are the source of LatencyMS, which View computes.
	Latencies Latencies `json:"latencies,omitzero"`
}

// Since returns when the webhook began to get events.
func (r *WebhookRecord) Since() time.Time {
	if r.EnabledAt != nil {
		return *r.EnabledAt
	}
	return r.CreatedAt.Time
}

// View returns the webhook as callers see it at the given time.
func (r *WebhookRecord) View(now time.Time) Webhook {
	w := r.Webhook
	w.LatencyMS = r.Latencies.Percentiles(now)
	if w.Fields == nil { // the webhook may be older than the member
		w.Fields = []string{}
	}
	return w
}

// Disable ends deliveries to the webhook, for a reason that callers see.
func (r *WebhookRecord) Disable(reason string) {
	r.State, r.DisabledReason = StateDisabled, &reason
}

// GoesTo returns a text that names the destination of the webhook.
func (w *Webhook) GoesTo() string {
	switch {
	case w.Destination != nil:
		return w.Destination.ARN + " " + w.Destination.RoleARN
	case w.URL != nil:
		return *w.URL
	default:
		return ""
	}
}

// Wants reports whether the webhook gets the event: its type is one of those subscribed to,
// and its factory one of those named, if any are named.
func (w *Webhook) Wants(e event.Ref) bool {
	return slices.ContainsFunc(w.EventTypes, func(p string) bool { return event.Pattern(p).Matches(e.Type) }) &&
		(len(w.FactoryIDs) == 0 || slices.Contains(w.FactoryIDs, e.Factory)) &&
		(w.ProfileID == nil || *w.ProfileID == e.Profile)
}

// gets reports whether the webhook gets an event: it is enabled, wants the event, and was there before it. Times of ids
// are to the millisecond.
func (r *WebhookRecord) gets(e event.Ref) bool {
	at, _ := id.Time(e.ID) // event.New has made the id
	return r.State == StateEnabled && r.Wants(e) && !at.Before(r.CreatedAt.Truncate(time.Millisecond))
}

// SetMaker records who makes the webhook.
func (r *WebhookRecord) SetMaker(p *auth.Principal) {
	r.CreatedBy = p.Actor.ID
	if p.Actor.Kind == auth.Person {
		r.MakerScopes = append([]auth.Scope{}, p.Scopes...)
	}
}

// MakerKey is the key of the item that has the scopes of the maker if the maker is an API
// key. A person has no such item.
func MakerKey(account tenant.Account, maker string) store.Key {
	return credential.KeyOf(account, maker)
}

// Reader holds the scopes with which the maker of a webhook reads events.
type Reader []auth.Scope

// Reader returns the scopes of the maker, by its item. A key that has expired or was revoked counts with its last
// scopes, so that replacing a key stops no webhook. An unknown key has no scopes.
func (r *WebhookRecord) Reader(maker store.Item) (Reader, error) {
	if r.MakerScopes != nil || maker.Kind == "" || maker.SK != r.CreatedBy {
		return r.MakerScopes, nil
	}
	var k keyrecord.Record
	err := maker.Decode(&k)
	return Reader(k.Scopes), err
}

// May reports whether the maker may read events of the type.
func (r Reader) May(t event.Type) bool { return t.Readable(r) }

// Lacking returns those scopes that read events of the maker and that the others lack.
func (r Reader) Lacking(others []auth.Scope) (lacking []auth.Scope) {
	for _, known := range event.Types {
		if r.May(known.Type) && !known.Type.Readable(others) && !slices.Contains(lacking, known.Scope) {
			lacking = append(lacking, known.Scope)
		}
	}
	return lacking
}

// requireReadable refuses event types that the caller may not read. An area or * means the
// types in it that the maker may read.
func requireReadable(ctx context.Context, types []string) error {
	p := auth.FromContext(ctx)
	for i, t := range types {
		if scope := event.Type(t).Scope(); scope != "" && !p.Has(scope) {
			e := errs.New(errs.ScopeEscalation, "The calling key does not have the scope %s, so it may not read the "+
				"event %s. Use a key that has it, or leave the event out.", scope, t)
			e.Param = "/event_types/" + strconv.Itoa(i)
			return e
		}
	}
	return nil
}

// requireChanging refuses a change of where events go, or of what is sent, by a caller that may not read all events of
// the webhook's maker: it could send them to itself, or to a receiver that should not have them. The same holds for
// enabling a webhook that was disabled together with its maker.
func (s *Service) requireChanging(ctx context.Context, was, r *WebhookRecord) error {
	chosen, moved := !slices.Equal(was.EventTypes, r.EventTypes), r.GoesTo() != was.GoesTo()
	if chosen {
		if err := requireReadable(ctx, r.EventTypes); err != nil {
			return err
		}
	}
	switch {
	case r.State == StateEnabled && r.DisabledReason != nil && *r.DisabledReason == ReasonMakerRevoked:
		return s.requireReading(ctx, r, "/state")
	case moved && r.Destination != nil:
		return s.requireReading(ctx, r, "/destination")
	case moved:
		return s.requireReading(ctx, r, "/url")
	case chosen:
		return s.requireReading(ctx, r, "/event_types")
	case !slices.Equal(was.FactoryIDs, r.FactoryIDs):
		return s.requireReading(ctx, r, "/factory_ids")
	case !slices.Equal(was.Fields, r.Fields):
		return s.requireReading(ctx, r, "/fields")
	}
	return nil
}

// requireReading refuses a caller that may not read all events that the maker of the webhook may read. param is the
// member of the request that needs it, or empty if the whole request does.
func (s *Service) requireReading(ctx context.Context, r *WebhookRecord, param string) error {
	p := auth.FromContext(ctx)
	// Neither the maker nor a caller that may read all events need a look at the maker.
	if p.KeyID() == r.CreatedBy || len(Reader(auth.AllScopes()).Lacking(p.Scopes)) == 0 {
		return nil
	}
	maker, err := s.db.Lookup(ctx, MakerKey(p.Account, r.CreatedBy))
	if err != nil {
		return err
	}
	reader, err := r.Reader(maker)
	if err != nil {
		return err
	}
	lacking := reader.Lacking(p.Scopes)
	if len(lacking) == 0 {
		return nil
	}
	e := errs.New(errs.ScopeEscalation, "The webhook receives what %s may read, and the calling key does not have "+
		"the scopes for all of it: %v. Use a key that has them, or create another webhook.", r.CreatedBy, lacking)
	e.Param = param
	return e
}

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
			return nil, noFactory(i, f)
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
	return owns(o, named, items)
}

// owns refuses items that are not factories of the owner.
func owns(o tenant.Owner, named factoryIDs, factories []store.Item) error {
	for i, it := range factories {
		if !factoryrecord.Usable(it, o) {
			return noFactory(i, named[i])
		}
	}
	return nil
}

func noFactory(i int, factoryID string) error {
	return errs.MissingAt("/factory_ids/"+strconv.Itoa(i), factoryrecord.Kind, factoryID)
}

// fields are the members that a request chooses.
type fields []string

// Schema describes the list in the OpenAPI document. A patch removes it by null.
func (fields) Schema(huma.Registry) *huma.Schema {
	most, longest := 100, 64
	s := &huma.Schema{
		Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString, MaxLength: &longest}, MaxItems: &most,
		UniqueItems: true, Nullable: true,
		Description: "Only these members of data.object are sent; the id is always sent. Each is a member of the " +
			"object of one of the event_types, and is left out of objects that do not have it. Empty or null: all " +
			"members",
		Examples: []any{[]string{"state", "publications"}},
	}
	s.PrecomputeMessages()
	return s
}

// keyBytes is the length of a signing key.
const keyBytes = 32

// Secret is a signing key as it is stored: sealed.
type Secret struct {
	SealedSecret []byte `json:"sealed"`
	// Until is the end of a secret that a rotation has replaced. It is nil for the current secret.
	Until *time.Time `json:"until,omitempty"`
}

// Secrets are the secrets of one webhook: the current one first, and the one before it while a rotation lets both sign.
type Secrets []Secret

// overlap is the time for which the secret before a rotation still signs.
const overlap = 24 * time.Hour

// NewSecret makes a signing key for a webhook. It returns it sealed and in clear.
func NewSecret(ctx context.Context, random io.Reader, envelope *seal.Envelope, to Ref) (Secret, Key, error) {
	k := make(Key, keyBytes)
	if _, err := io.ReadFull(random, k); err != nil {
		return Secret{}, nil, fmt.Errorf("webhook: read randomness: %w", err)
	}
	sealed, err := envelope.Seal(ctx, string(to.Owner.Account), k, to.sealedFor())
	if err != nil {
		return Secret{}, nil, fmt.Errorf("webhook: seal secret: %w", err)
	}
	return Secret{SealedSecret: sealed}, k, nil
}

// sealedFor is the context that the webhook's keys are sealed for: a secret that is
// copied to another webhook does not open.
func (r Ref) sealedFor() string { return r.Owner.String() + "#" + r.ID }

// Rotate returns the secrets after a new one was made. At most two sign: of those that
// earlier rotations have replaced, only the last one stays.
func (ss Secrets) Rotate(made Secret, now time.Time) Secrets {
	last, until := ss[0], now.Add(overlap).UTC()
	last.Until = &until
	return Secrets{made, last}
}

// Keys returns the keys that sign at the given time.
func (ss Secrets) Keys(ctx context.Context, envelope *seal.Envelope, to Ref, at time.Time) (EndpointKeys, error) {
	var keys EndpointKeys
	for _, s := range ss {
		if s.Until != nil && !at.Before(*s.Until) {
			continue
		}
		k, err := envelope.Open(ctx, string(to.Owner.Account), s.SealedSecret, to.sealedFor())
		if err != nil {
			return nil, fmt.Errorf("webhook: secret of %s: %w", to.ID, err)
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// Key is a signing key in clear.
type Key []byte

// Reveal returns the key as Standard Webhooks writes it.
func (k Key) Reveal() string { return "whsec_" + base64.StdEncoding.EncodeToString(k) }

// String hides the key from whatever prints it.
func (Key) String() string { return "whsec_…" }

// GoString hides the key from whatever prints it.
func (k Key) GoString() string { return k.String() }

// LogValue hides the key from the log.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// EndpointKeys sign for one webhook.
type EndpointKeys []Key

// Sign returns the header webhook-signature of a message sent at the given time
// (Standard Webhooks 1.0): a signature by each key.
func (ks EndpointKeys) Sign(messageID string, at time.Time, body []byte) string {
	prefix := messageID + "." + Timestamp(at) + "."
	var header strings.Builder
	for i, k := range ks {
		if i > 0 {
			header.WriteByte(' ')
		}
		mac := hmac.New(sha256.New, k)
		mac.Write([]byte(prefix))
		mac.Write(body)
		header.WriteString("v1,")
		header.WriteString(base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return header.String()
}

// Timestamp returns a time in the format of the header webhook-timestamp.
func Timestamp(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

// Ref names a webhook. Its owner is part of all keys, so that a caller finds its own webhooks and deliveries only.
type Ref struct {
	tenant.Owner
	ID string
}

// List is the partition of store.Table that lists an owner's webhooks: strongly
// consistent, so that an event never misses one that was there.
func List(o tenant.Owner) string { return "webhooks#" + o.String() }

// CountKey is the key of the count of an owner's webhooks.
func CountKey(o tenant.Owner) store.Key {
	key := "webhookcount#" + o.String()
	if o.Profile != "" {
		key += "#" + string(o.Profile)
	}
	return store.IDKey(key)
}

// Key is the key of the webhook.
func (r Ref) Key() store.Key { return store.Key{PK: List(r.Owner), SK: r.ID} }

// Deliveries is the partition of store.Table that lists the webhook's deliveries.
func (r Ref) Deliveries() string { return "deliveries#" + r.Owner.String() + "#" + r.ID }

// DeliveryKey is the key of one of the webhook's deliveries.
func (r Ref) DeliveryKey(deliveryID string) store.Key {
	return store.Key{PK: r.Deliveries(), SK: deliveryID}
}

// HeldShards is the number of partitions that list the held deliveries of one webhook. One partition takes 1,000 writes
// a second.
const HeldShards = 8

// HeldPartitions returns the partitions of store.ByDue that list the deliveries that the open circuit breaker of the
// webhook holds back. Their ids sort by the time of their events.
func (r Ref) HeldPartitions() []string {
	all := make([]string, HeldShards)
	for shard := range all {
		all[shard] = r.heldIn(shard)
	}
	return all
}

func (r Ref) heldIn(shard int) string {
	return "held#" + r.Owner.String() + "#" + r.ID + "#" + strconv.Itoa(shard)
}

// HeldFor returns the id of the webhook whose held deliveries a partition lists.
func HeldFor(partition string) string {
	parts := strings.Split(partition, "#")
	return parts[max(0, len(parts)-2)]
}

// heldKey is the delivery's key in Held. It stays the same for as long as the delivery is held back.
func (d *DeliveryRecord) heldKey() store.Key {
	if d.State != DeliveryPending || !d.Held() {
		return store.Key{}
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(d.ID)) // returns no error
	return store.Key{PK: d.Webhook().heldIn(int(h.Sum32() % HeldShards)), SK: d.ID}
}

// DeliveryID returns the id of the delivery of an event, which happened at the given
// time, to a webhook. It is derived: an event that arrives twice is delivered once.
func DeliveryID(at time.Time, eventID, webhookID string) string {
	return id.Derived(id.Delivery, at, eventID, webhookID)
}

// DisableMadeBy disables the webhooks of an account, in both modes, that the API keys made. Each is a transaction of
// its own, so a repeat does the rest. It returns store.ErrConflict if a webhook changes at the same time.
func DisableMadeBy(ctx context.Context, db *store.DB, now time.Time, account tenant.Account, keyIDs []string) error {
	for _, mode := range []tenant.Mode{tenant.Live, tenant.Test} {
		q := store.Query{Index: store.Table, Partition: List(tenant.Of(account, mode)), Limit: PerRead}
		err := db.Each(ctx, q, func(it store.Item) error {
			var r WebhookRecord
			if err := it.Decode(&r); err != nil {
				return err
			}
			if r.State == StateDisabled || r.MakerScopes != nil || !slices.Contains(keyIDs, r.CreatedBy) {
				return nil
			}
			r.Disable(ReasonMakerRevoked)
			r.Touch(now)
			tx := &store.Tx{}
			if err := r.ReplaceIn(tx, &it, now); err != nil {
				return err
			}
			return db.Commit(ctx, tx)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ReplaceIn writes the webhook, and the event for the account's other webhooks if this one is disabled.
func (r *WebhookRecord) ReplaceIn(tx *store.Tx, it *store.Item, now time.Time) error {
	if err := tx.Rewrite(*it, r); err != nil {
		return err
	}
	if r.State != StateDisabled {
		return nil
	}
	return event.Add(tx, now, it.Owner, event.WebhookDisabled, r.View(now))
}
