// Package hook holds what the operations on webhooks and the functions that deliver
// events share: the records of webhooks and deliveries, their keys, the signing
// secrets, the schedule of attempts, and the messages of the deliver queues.
package hook

import (
	"slices"
	"time"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/resource"
)

// Kind is the kind of a webhook's item.
const Kind = "webhook"

// MaxPerOwner bounds the webhooks of an account and mode: dispatch reads all of them
// for each event.
const MaxPerOwner = 20

// The states of a webhook.
const (
	StateEnabled  = "enabled"
	StateDisabled = "disabled"
)

// The reasons for which a webhook is disabled.
const (
	ReasonRequested = "requested" // by a call
	ReasonGone      = "gone"      // the receiver answered 410
	ReasonFailing   = "failing"   // only failures for 5 days
)

// Webhook is a webhook as callers see it.
type Webhook struct {
	resource.Resource
	URL            *string    `json:"url" format:"uri" doc:"Where events are posted; null where they go to a destination in AWS" example:"https://crm.example.com/hooks/content"`
	Destination    *Target    `json:"destination" doc:"Where events go in an AWS account of your own; null where they are posted to a URL"`
	EventTypes     []string   `json:"event_types" nullable:"false" doc:"What it gets: types of events, areas such as content.*, or * for everything" example:"[\"content.*\",\"balance.low\"]"`
	FactoryIDs     []string   `json:"factory_ids" nullable:"false" doc:"It gets the events of these factories alone; empty: those of all, and those of none, such as balance.low"`
	Description    string     `json:"description" doc:"What it is for"`
	State          string     `json:"state" enum:"enabled,disabled" doc:"A disabled webhook gets nothing"`
	DisabledReason *string    `json:"disabled_reason" enum:"requested,gone,failing" doc:"requested by a call; gone: the receiver answered 410; failing: nothing but failures for 5 days; null while it is enabled"`
	FailingSince   *time.Time `json:"failing_since" doc:"When the failures since the last success began; null where the last attempt succeeded"`
	LastSuccessAt  *time.Time `json:"last_success_at" doc:"When an attempt last succeeded, exact to the minute; null: never"`
	LatencyMS      *Latency   `json:"latency_ms" doc:"How long the receiver took to answer in the running hour and the one before it, whatever the status: approximate, and brought up to date about once a minute while attempts succeed; null where nothing was answered"`
}

// SchemaName names the schema in the OpenAPI document.
func (Webhook) SchemaName() string { return "Webhook" }

// The types of destinations in AWS accounts.
const (
	TypeEventBridge = "eventbridge"
	TypeSQS         = "sqs"
)

// Target is a destination in a customer's AWS account.
type Target struct {
	Type         string `json:"type" enum:"eventbridge,sqs" doc:"eventbridge: an event bus; sqs: a standard queue"`
	ARN          string `json:"arn" doc:"The event bus or queue" example:"arn:aws:sqs:eu-central-1:111122223333:content-events"`
	RoleARN      string `json:"role_arn" doc:"The role that we assume to send to it" example:"arn:aws:iam::111122223333:role/content-automation-events"`
	Region       string `json:"region" doc:"Where it is" example:"eu-central-1"`
	ExternalID   string `json:"external_id" doc:"Made by us and never changed: the trust policy of the role must ask for it as sts:ExternalId, so that nobody else has us use the role" example:"WOBMUWLHUPSQQTVYPVAJ5JAWMA"`
	PrincipalARN string `json:"principal_arn" doc:"Who assumes the role: the principal of its trust policy" example:"arn:aws:iam::444455556666:role/acme-prod-eu-central-1-deliver"`
}

// SchemaName names the schema in the OpenAPI document.
func (Target) SchemaName() string { return "WebhookDestination" }

// Record is the stored document of a webhook.
type Record struct {
	Webhook
	Secrets Secrets `json:"secrets"`
	// EnabledAt is when the webhook was last enabled again; nil: never.
	EnabledAt *time.Time `json:"enabled_at,omitempty"`
	// Latencies are the source of LatencyMS, which View computes.
	Latencies Latencies `json:"latencies,omitzero"`
}

// Since returns when the webhook began to get events.
func (r *Record) Since() time.Time {
	if r.EnabledAt != nil {
		return *r.EnabledAt
	}
	return r.CreatedAt
}

// View returns the webhook as callers see it at the given time.
func (r *Record) View(now time.Time) Webhook {
	w := r.Webhook
	w.LatencyMS = r.Latencies.Percentiles(now)
	return w
}

// Disable disables the webhook.
func (r *Record) Disable(reason string) {
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

// Wants reports whether the webhook gets the event: one of a type that it asks for,
// and of a factory that it names, if it names any.
func (w *Webhook) Wants(e event.Ref) bool {
	return slices.ContainsFunc(w.EventTypes, func(p string) bool { return event.Pattern(p).Matches(e.Type) }) &&
		(len(w.FactoryIDs) == 0 || slices.Contains(w.FactoryIDs, e.Factory))
}
