package transfer

import (
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

// takeWebhook adds a webhook to the transaction, on behalf of a caller. It is disabled and has a secret that nobody has
// seen: a rotation shows another one. A destination in AWS is refused, since its external id belongs to the other
// webhook.
func takeWebhook(tx *store.Tx, o tenant.Owner, w webhook.Webhook, p *auth.Principal, secret webhook.Secret) error {
	if w.URL == nil {
		return errs.New(errs.InvalidState, "Its destination trusts the external id of the other webhook. Create it "+
			"anew.")
	}
	if err := event.CheckFields(w.Fields, w.EventTypes); err != nil {
		return err
	}
	r := &webhook.WebhookRecord{Webhook: w, Secrets: webhook.Secrets{secret}}
	r.Disable(webhook.ReasonRequested)
	r.SetMaker(p)
	return addWebhook(tx, o, r)
}

// rehearseWebhook adds a webhook to the transaction of a rehearsal. It is enabled, has a secret of its own, and sends
// to an address in place of its receiver.
func rehearseWebhook(tx *store.Tx, o tenant.Owner, w webhook.Webhook, address string, secret webhook.Secret) error {
	w.URL, w.State, w.DisabledReason, w.CreatedBy = &address, webhook.StateEnabled, nil, string(auth.Operator)
	return addWebhook(tx, o, &webhook.WebhookRecord{Webhook: w, Secrets: webhook.Secrets{secret},
		MakerScopes: auth.AllScopes()})
}

func addWebhook(tx *store.Tx, o tenant.Owner, r *webhook.WebhookRecord) error {
	r.ProfileID, r.Destination, r.FailingSince, r.LastSuccessAt, r.LatencyMS = o.ProfileID(), nil, nil, nil, nil
	it, err := store.NewItem(webhook.Kind, o, r.ID, r)
	if err != nil {
		return err
	}
	it.Key, it.Listed = webhook.Ref{Owner: o, ID: r.ID}.Key(), store.Key{}
	tx.Create(it, nil)
	tx.Count(webhook.CountKey(o), 1, webhook.MaxPerOwner, errs.New(errs.InvalidState, "There are already %d webhooks "+
		"in this mode or profile, which is the maximum. Delete one first, and import again.", webhook.MaxPerOwner))
	return nil
}
