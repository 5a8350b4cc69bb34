// Package webhook holds webhooks and the deliveries of events to them. A delivery is a task: dispatch.go makes one for
// each webhook that wants an event, attempt.go makes its attempts, and receiver.go keeps the state of receivers.
// Service.Register in operations.go has the operations.
package webhook

import (
	"context"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/httpapi"
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

// settings are the members of a webhook that can be changed.
type settings struct {
	URL         string            `json:"url,omitempty"`
	Destination *targetSettings   `json:"destination,omitempty"`
	EventTypes  []string          `json:"event_types"`
	FactoryIDs  []string          `json:"factory_ids"`
	Fields      []string          `json:"fields"`
	Description string            `json:"description"`
	State       string            `json:"state"`
	Metadata    resource.Metadata `json:"metadata"`
}

func settingsOf(r *WebhookRecord) settings {
	set := settings{"", targetSettingsOf(r.Destination), r.EventTypes, r.FactoryIDs, r.Fields, string(r.Description),
		r.State,
		r.Metadata}
	if r.URL != nil {
		set.URL = *r.URL
	}
	return set
}

// Service makes and changes webhooks.
type Service struct {
	db        *store.DB
	urls      safehttp.Checker
	principal arn.ARN
	envelope  *seal.Envelope
	now       func() time.Time
	random    io.Reader
}

// NewService returns the service. The principal is the role of the deliver function, which customers allow to assume
// their roles. Secrets are drawn from random and sealed by the envelope.
func NewService(db *store.DB, urls safehttp.Checker, principal arn.ARN, envelope *seal.Envelope, now func() time.Time,
	random io.Reader) *Service {
	return &Service{db, urls, principal, envelope, now, random}
}

func ownerOf(ctx context.Context) tenant.Owner { return auth.FromContext(ctx).Owner }

// refOf names a webhook of the caller.
func refOf(ctx context.Context, webhookID string) Ref {
	return Ref{Owner: ownerOf(ctx), ID: webhookID}
}

// add puts a new webhook into the transaction.
func (s *Service) add(tx *store.Tx, to Ref, r *WebhookRecord) error {
	it, err := store.NewItem(Kind, to.Owner, r.ID, r)
	if err != nil {
		return err
	}
	it.Key, it.Listed = to.Key(), store.Key{}
	tx.Create(it, nil)
	tx.Count(CountKey(to.Owner), 1, MaxPerOwner,
		errs.New(errs.InvalidState, "There are already %d webhooks in this mode or profile, which is the maximum. "+
			"Delete one first.", MaxPerOwner))
	return nil
}

// find reads a webhook of the caller; any other is not_found. It is resource.Find for
// items that are not keyed by their id alone.
func (s *Service) find(ctx context.Context, webhookID string, match ...httpapi.IfMatch) (WebhookRecord,
	store.Item, error) {
	var r WebhookRecord
	if !id.Valid(id.Webhook, webhookID) {
		return r, store.Item{}, errs.Missing(Kind, webhookID)
	}
	it, err := s.db.Lookup(ctx, refOf(ctx, webhookID).Key())
	if err == nil && it.PK == "" {
		return r, it, errs.Missing(Kind, webhookID)
	}
	if err == nil {
		err = it.Decode(&r)
	}
	if err == nil {
		err = httpapi.Matches(r.Version, match)
	}
	return r, it, err
}

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

// redirect sends the events to the destination in the settings, or refuses it. A webhook that has a URL keeps one, and
// one that has a destination in AWS keeps one of its type.
func (s *Service) redirect(ctx context.Context, r *WebhookRecord, set settings) error {
	switch {
	case r.Destination == nil && set.Destination != nil:
		return errs.Invalid("/destination", "cannot be set on a webhook that has a url. Create another webhook.")
	case r.Destination != nil && set.URL != "":
		return errs.Invalid("/url", "cannot be set on a webhook that has a destination. Create another webhook.")
	case r.Destination != nil && set.Destination != nil && *set.Destination != *targetSettingsOf(r.Destination):
		moved := *r.Destination
		r.Destination = &moved
		return s.aim(r.Destination, *set.Destination)
	case r.Destination == nil && set.URL != *r.URL:
		r.URL = &set.URL
		return s.checkURL(ctx, set.URL)
	}
	return nil
}

// apply takes over changed settings but the destination. A webhook that is enabled or
// sends elsewhere starts afresh: earlier failures do not count any more.
func apply(r *WebhookRecord, set settings, moved bool, now time.Time) {
	enabled := set.State == StateEnabled && r.State != StateEnabled
	if enabled || moved {
		r.FailingSince = nil
	}
	if moved {
		r.Latencies = Latencies{} // they were another receiver's
	}
	switch {
	case set.State == StateEnabled:
		r.DisabledReason = nil
	case r.State != StateDisabled:
		r.Disable(ReasonRequested)
	}
	r.EventTypes, r.Description, r.State = set.EventTypes, resource.Text(set.Description), set.State
	r.FactoryIDs, r.Fields = append([]string{}, set.FactoryIDs...), append([]string{}, set.Fields...)
	r.Metadata = set.Metadata.OrEmpty()
	r.Touch(now)
	if enabled {
		at := r.UpdatedAt.Time
		r.EnabledAt = &at
	}
}
