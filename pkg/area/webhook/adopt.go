package webhook

import (
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

// Adopt adds a webhook of an export to the transaction, on behalf of a caller. It is disabled and has no secret: a
// rotation makes one, and then it can be enabled. A destination in AWS is refused, since its external id belongs to the
// other webhook.
func Adopt(tx *store.Tx, o tenant.Owner, w Webhook, p *auth.Principal) error {
	if w.URL == nil {
		return errs.New(errs.InvalidState, "Its destination trusts the external id of the other webhook. Create it anew.")
	}
	if err := event.CheckFields(w.Fields, w.EventTypes); err != nil {
		return err
	}
	w.ProfileID, w.Destination, w.FailingSince, w.LastSuccessAt, w.LatencyMS = o.ProfileID(), nil, nil, nil, nil
	r := &WebhookRecord{Webhook: w, Secrets: Secrets{}}
	r.Disable(ReasonRequested)
	r.SetMaker(p)
	return add(tx, Ref{Owner: o, ID: r.ID}, r)
}

// AdoptIn adds a webhook of an export to the transaction of a sandbox. It is enabled, has a secret of its own, and sends
// to an address in place of its receiver.
func AdoptIn(tx *store.Tx, o tenant.Owner, w Webhook, address string, secret Secret) error {
	w.ProfileID, w.URL, w.Destination, w.FailingSince, w.LastSuccessAt, w.LatencyMS = o.ProfileID(), &address, nil, nil,
		nil, nil
	w.State, w.DisabledReason, w.CreatedBy = StateEnabled, nil, string(auth.Operator)
	return add(tx, Ref{Owner: o, ID: w.ID}, &WebhookRecord{Webhook: w, Secrets: Secrets{secret},
		MakerScopes: auth.AllScopes()})
}

// errNoSecret is the error of a webhook of an import that cannot sign yet.
func errNoSecret() error {
	return errs.New(errs.InvalidState, "The webhook was imported and has no signing secret. Rotate its secret first.").
		With(errs.StateContext{State: StateDisabled, Allowed: []string{"rotate-secret"}})
}
