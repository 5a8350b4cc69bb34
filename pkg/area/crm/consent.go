package crm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/consent"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/store"
)

// CallbackPath is the path to which a CRM sends the browser of its administrator.
const CallbackPath = "/integrations/callback"

// CallbackOperation is the operation of the callback in the audit log.
const CallbackOperation = "integrations.callback"

// The details of a consent: the host of the customer's portal, and the secret in the address of the webhooks.
const (
	portalDetail = "portal"
	hookDetail   = "hook"
)

// flow returns the flow in which administrators of CRMs grant access.
func (s *Service) flow() *consent.Flow {
	return &consent.Flow{
		Path: CallbackPath, Operation: CallbackOperation, Kind: auth.Integration, Prefix: id.Integration,
		Cookie: "integration_", Scope: auth.AccountManage, DB: s.db, Audit: s.audit, Vault: s.vault, Secret: s.secret,
		Now: s.now, Random: s.random,
		Read: func(it *store.Item) (consent.Subject, error) {
			r, err := Decode(it)
			return &subject{s, it.Owner, &r}, err
		},
	}
}

// With returns the handler of the function. It serves the callback and the webhooks, which need no key, and the
// operations.
func (s *Service) With(operations http.Handler) http.Handler {
	others := s.flow().Before(operations)
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		token, hook := strings.CutPrefix(req.URL.Path, HooksPath)
		switch {
		case hook && req.Method == http.MethodPost:
			w.WriteHeader(s.hook(req, token))
		case hook:
			w.Header().Set("Allow", http.MethodPost)
			w.WriteHeader(http.StatusMethodNotAllowed)
		default:
			others.ServeHTTP(w, req)
		}
	})
}

// subject is an integration whose administrator is asked for access. It implements consent.Subject.
type subject struct {
	s     *Service
	owner tenant.Owner
	r     *Record
}

// granted is the account of a CRM to which a grant gives access.
type granted struct {
	Account   crm.Account    `json:"account"`
	Pipelines []crm.Pipeline `json:"pipelines"`
}

func (i *subject) adapter() crm.Adapter { return i.s.systems.Of(i.owner.Mode, i.r.Kind) }

func (i *subject) Pending() **authority.Consent { return &i.r.Consent }

func (i *subject) Save(tx *store.Tx, now time.Time, it store.Item) error {
	return i.r.Save(tx, now, i.owner, it, "")
}

func (i *subject) Asks(consent.Consent) (consent.Asking, error) {
	label := i.adapter().Facts().Label
	return consent.Asking{To: "your " + label, Label: label, May: []string{
		"read your products, your deals and their stages", "add notes to your deals",
		"keep this access until you remove the application in " + label,
	}}, nil
}

// Address implements consent.Subject. No CRM takes the challenge of a verifier.
func (i *subject) Address(ctx context.Context, c consent.Consent, state string) (string, error) {
	return i.adapter().Authorization(ctx, crm.Authorization{Portal: c.Details[portalDetail], RedirectURL: c.Redirect,
		State: state})
}

func (i *subject) Exchange(ctx context.Context, c consent.Consent, q url.Values) ([]consent.Grant, error) {
	adapter := i.adapter()
	q.Set("portal", c.Details[portalDetail])
	a, err := adapter.Connect(ctx, crm.Grant{Code: q.Get("code"), RedirectURL: c.Redirect, Query: q})
	switch {
	case platform.Ended(err) || platform.Refuses(err):
		return nil, platform.NeedsReconnect(platform.CodeNeedsReconnect, adapter.Facts().Label+
			" has refused the access.").Because(err)
	case err != nil:
		return nil, err
	}
	pipelines, err := adapter.Pipelines(ctx, a)
	if err != nil { // the first synchronization reads them, too
		slog.Warn("pipelines not read", "integration_id", i.r.ID, "error", err)
	}
	raw, err := json.Marshal(granted{a, pipelines})
	if err != nil {
		return nil, fmt.Errorf("crm: encode a grant: %w", err)
	}
	return []consent.Grant{{ID: a.ID, Name: a.Name, Account: raw}}, nil
}

func (i *subject) Keep(ctx context.Context, tx *store.Tx, it store.Item, c consent.Consent,
	g consent.Grant) (consent.Kept, error) {
	var got granted
	if err := json.Unmarshal(g.Account, &got); err != nil {
		return consent.Kept{}, errors.New("crm: decode a grant") // the cause could show a token
	}
	if len(got.Pipelines) > 0 {
		i.r.Pipelines = Described(got.Pipelines)
	}
	err := i.s.accept(ctx, tx, i.owner, i.r, it, Credentials{Account: got.Account,
		Hook: c.Details[hookDetail]})
	switch {
	case errors.Is(err, errAnother):
		err = &consent.OtherError{Message: "The account to connect again is " + string(i.r.Name) +
			". Sign in to the CRM with that one."}
	case errors.Is(err, errTwice):
		err = &consent.OtherError{Message: "This account of the CRM is connected already."}
	}
	return consent.Kept{ID: i.r.ID, Name: text.ClipLine(got.Account.Name, 200), Text: "Its products and deals are " +
		"read now."}, err
}
