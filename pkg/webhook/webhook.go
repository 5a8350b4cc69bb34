// Package webhook holds the addresses that customers want to be told at, and
// tells them: dispatch makes a delivery of each event for each webhook that wants
// it, deliver carries out the attempts until one succeeds or the last has failed.
package webhook

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/resource"
	"github.com/content-automation/api/pkg/safehttp"
	"github.com/content-automation/api/pkg/store"
)

// kind is the kind of a webhook's item.
const kind = "webhook"

// maxWebhooks bounds the webhooks of an account and mode: dispatch reads them
// all for each event.
const maxWebhooks = 20

// The states of a webhook.
const (
	stateEnabled  = "enabled"
	stateDisabled = "disabled"
)

// Why a webhook is disabled.
const (
	reasonRequested = "requested" // by a call
	reasonGone      = "gone"      // the receiver answered 410
	reasonFailing   = "failing"   // nothing but failures for failingLimit
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

// NewWebhook is a webhook together with its signing secret.
type NewWebhook struct {
	Webhook
	Secret string `json:"secret" doc:"Verify signatures with it by a Standard Webhooks library; it is never shown again" example:"whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"`
}

// SchemaName names the schema in the OpenAPI document.
func (NewWebhook) SchemaName() string { return "WebhookWithSecret" }

// settings are the members of a webhook that can be changed.
type settings struct {
	URL         string            `json:"url,omitempty"`
	Destination *targetSettings   `json:"destination,omitempty"`
	EventTypes  []string          `json:"event_types"`
	FactoryIDs  []string          `json:"factory_ids"`
	Description string            `json:"description"`
	State       string            `json:"state"`
	Metadata    resource.Metadata `json:"metadata"`
}

// record is the document that is kept of a webhook.
type record struct {
	Webhook
	Secrets secrets `json:"secrets"`
	// EnabledAt is when the webhook was last enabled again; nil: never.
	EnabledAt *time.Time `json:"enabled_at,omitempty"`
	// Latencies are what LatencyMS is made of, for each view anew.
	Latencies latencies `json:"latencies,omitzero"`
}

// since is from when on the webhook gets events.
func (r *record) since() time.Time {
	if r.EnabledAt != nil {
		return *r.EnabledAt
	}
	return r.CreatedAt
}

// URLChecker tells whether a URL may be called.
type URLChecker interface {
	// CheckURL gives a *safehttp.BlockedError for one that may not, and an error
	// that wraps safehttp.ErrLookup where its name could not be looked up.
	CheckURL(ctx context.Context, raw string) error
}

var _ URLChecker = (*safehttp.Client)(nil)

// Service makes and changes webhooks.
type Service struct {
	db        *store.DB
	urls      URLChecker
	principal arn.ARN
	now       func() time.Time
	random    io.Reader
}

// NewService makes the service; secrets are drawn from random. The principal is the
// role of the deliver function, which customers let assume roles of theirs.
func NewService(db *store.DB, urls URLChecker, principal arn.ARN, now func() time.Time, random io.Reader) *Service {
	return &Service{db, urls, principal, now, random}
}

// add puts a new webhook into the transaction.
func (s *Service) add(tx *store.Tx, o owner, r *record) error {
	it, err := store.NewItem(kind, o.Owner, r.ID, r)
	if err != nil {
		return err
	}
	it.Key, it.Listed = o.webhookKey(r.ID), store.Key{}
	tx.Create(it, nil)
	tx.Count(o.countKey(), 1, maxWebhooks,
		errs.New(errs.InvalidState, "There are %d webhooks in this mode, the most there may be. Delete one first.", maxWebhooks))
	return nil
}

// find reads a webhook of the caller's account and mode; everything else is
// not_found. That is resource.Find for items that are not keyed by their id alone.
func (s *Service) find(ctx context.Context, webhookID string) (record, store.Item, error) {
	var r record
	if !id.Valid(id.Webhook, webhookID) {
		return r, store.Item{}, errs.Missing(kind, webhookID)
	}
	it, err := s.db.Get(ctx, callerOf(ctx).webhookKey(webhookID))
	if errors.Is(err, store.ErrNotFound) {
		return r, it, errs.Missing(kind, webhookID)
	}
	if err == nil {
		err = it.Decode(&r)
	}
	return r, it, err
}

// requireEnabled refuses what would send to a webhook that is disabled.
func (w *Webhook) requireEnabled() error {
	if w.State != stateEnabled {
		return errs.New(errs.InvalidState, "The webhook is disabled. Enable it first.")
	}
	return nil
}

// checkURL refuses an address that may not be called.
func (s *Service) checkURL(ctx context.Context, raw string) error {
	return safehttp.Refusal(s.urls.CheckURL(ctx, raw), "/url")
}

// goesTo tells where the settings send events.
func (set settings) goesTo() string {
	if set.Destination != nil {
		return set.Destination.ARN + " " + set.Destination.RoleARN
	}
	return set.URL
}

// redirect gives where changed settings send events, or refuses it. A webhook that
// has a URL keeps one, and one that has a destination in AWS keeps one of its type.
func (s *Service) redirect(ctx context.Context, r *record, set settings) (*Target, error) {
	switch was := r.settings(); {
	case r.Destination == nil && set.Destination != nil:
		return nil, errs.Invalid("/destination", "cannot be given to a webhook that has a url. Create another webhook.")
	case r.Destination != nil && set.URL != "":
		return nil, errs.Invalid("/url", "cannot be given to a webhook that has a destination. Create another webhook.")
	case set.goesTo() == was.goesTo():
		return r.Destination, nil
	case r.Destination == nil:
		return nil, s.checkURL(ctx, set.URL)
	}
	moved := *r.Destination
	return &moved, s.aim(&moved, *set.Destination)
}

// apply takes over changed settings. Whoever enables a webhook or sends it elsewhere
// starts afresh: the failures until then are not held against it.
func (r *record) apply(set settings) {
	moved := set.goesTo() != r.settings().goesTo()
	if set.State == stateEnabled && r.State != stateEnabled || moved {
		r.FailingSince = nil
	}
	switch {
	case set.State == stateEnabled:
		r.DisabledReason = nil
	case r.State != stateDisabled:
		r.disable(reasonRequested)
	}
	if moved {
		r.Latencies = latencies{} // they were another receiver's
	}
	if set.Destination == nil {
		r.URL = &set.URL
	}
	r.EventTypes, r.Description, r.State = set.EventTypes, set.Description, set.State
	if r.FactoryIDs = set.FactoryIDs; r.FactoryIDs == nil {
		r.FactoryIDs = []string{}
	}
	r.Metadata = set.Metadata.OrEmpty()
}

func (r *record) settings() settings {
	set := settings{"", r.Destination.settings(), r.EventTypes, r.FactoryIDs, r.Description, r.State, r.Metadata}
	if r.URL != nil {
		set.URL = *r.URL
	}
	return set
}

func (r *record) disable(reason string) {
	r.State, r.DisabledReason = stateDisabled, &reason
}
