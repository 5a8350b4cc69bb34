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
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// grantTime bounds the calls of a CRM that connect an integration at once.
const grantTime = 15 * time.Second

// Connecting is an integration with the address of its webhooks and that of the page that grants access. Both are shown
// once.
type Connecting struct {
	Integration
	// Address for webhooks of the CRM, which contains a secret. Only this response has it. The service subscribes it
	// itself where it can. Null: the CRM sends all webhooks to the operator's application.
	HookURL *string `json:"hook_url"`
	// Time at which the addresses were made and shown. Only in a repeat that leaves them out.
	HookShownAt *resource.Time `json:"hook_shown_at,omitempty"`
}

// Concealed returns the integration without the addresses.
func (c Connecting) Concealed(made resource.Time) any {
	c.HookURL, c.AuthorizationURL, c.HookShownAt = nil, nil, &made
	return c
}

// Grants returns nothing: a webhook only has the service read the CRM.
func (Connecting) Grants() []auth.Scope { return nil }

// connect connects an integration: by the address of an incoming webhook at once, and by OAuth as soon as access was
// granted. The calls of the CRM may be repeated without harm.
func (s *Service) connect(ctx context.Context, tx *store.Tx, in *connectInput) (out Connecting, err error) {
	b, now := in.Body, s.now()
	r, it, err := s.subject(ctx, b)
	if err != nil {
		return out, err
	}
	o := it.Owner
	if it.Version == 0 {
		if o, err = b.ProfileMember.Owner(ctx, tx, now); err != nil {
			return out, err
		}
		r.ProfileID = o.ProfileID()
	} else if b.ProfileID != "" && tenant.Profile(b.ProfileID) != o.Profile {
		return out, errs.Invalid("/profile_id", "is another one than that of %s, and cannot be changed", r.ID)
	}
	adapter := s.systems.Of(o.Mode, r.Kind)
	if err := b.check(adapter.Facts(), o.Mode == tenant.Test); err != nil {
		return out, err
	}
	was := r
	if b.FactoryID != "" {
		r.FactoryID = &b.FactoryID
	}
	if b.Mapping != nil {
		r.Mapping = b.Mapping.mapping()
	}
	if b.Metadata != nil {
		r.Metadata = b.Metadata
	}
	if _, err := s.apply(ctx, o, &was, &r); err != nil {
		return out, err
	}
	// Who connects it answers for what it makes, also by the mapping that it had.
	p := auth.FromContext(ctx)
	if err := checkMapping(p, nil, r.Mapping); err != nil {
		return out, err
	}
	answers(&r, p)
	r.Base = httpapi.PublicURL(ctx)
	secret, _, err := web.NewBearer(s.random)
	if err != nil {
		return out, err
	}
	if b.WebhookURL != "" {
		err = s.address(ctx, tx, o, &r, it, b, secret)
	} else if err = s.ask(ctx, o, &r, adapter, b, secret); err == nil {
		err = r.Save(tx, now, o, it, "")
	}
	if err != nil {
		return out, err
	}
	out.Integration = r.View(now)
	out.AuthorizationURL = r.AuthorizationURL
	if !adapter.Facts().Shared {
		address := r.HookURL(secret)
		out.HookURL = &address
	}
	return out, nil
}

// subject returns the integration to connect, which is a new one or one to connect again.
func (s *Service) subject(ctx context.Context, b connectBody) (r Record, it store.Item, err error) {
	if err := b.Rules(); err != nil {
		return r, it, err
	}
	if b.IntegrationID != "" {
		f, err := s.integrations.Find(ctx, b.IntegrationID)
		if err != nil {
			return r, it, errs.At("/integration_id", err)
		}
		return *f.Record, f.Item, nil
	}
	now := s.now()
	r.Integration = Integration{Resource: resource.New(NewID(now), now, b.Metadata),
		Kind: string(b.Kind), State: Pending}
	return r, it, nil
}

// ask prepares the authorization by an administrator of the CRM.
func (s *Service) ask(ctx context.Context, o tenant.Owner, r *Record, adapter crm.Adapter, b connectBody,
	hook string) error {
	if ok, err := s.systems.Configured(ctx, o.Mode, r.Kind); err != nil {
		return errs.Wrap(err, errs.ProviderUnavailable, "The settings of the CRM cannot be read at the moment. Try "+
			"again in a few seconds.")
	} else if !ok {
		return errs.Invalid("/kind", "is not set up on this service: its operator has registered no application with "+
			"%s", adapter.Facts().Label)
	}
	if r.State != Connected {
		r.Hook = web.HashBearer(hook)
	}
	address, err := s.flow().Ask(ctx, o, r.ID, &subject{s, o, r}, consent.Consent{Details: map[string]string{
		portalDetail: strings.ToLower(b.Portal), hookDetail: hook}})
	if err != nil {
		return callerError(err, adapter.Facts().Label, "/kind")
	}
	r.AuthorizationURL = &address
	return nil
}

// address connects an integration by the address of an incoming webhook.
func (s *Service) address(ctx context.Context, tx *store.Tx, o tenant.Owner, r *Record, it store.Item,
	b connectBody, hook string) error {
	if o.Mode == tenant.Live {
		if err := s.urls.CheckURL(ctx, b.WebhookURL); err != nil {
			return safehttp.InvalidURL(err, "/webhook_url")
		}
	}
	adapter := s.systems.Of(o.Mode, r.Kind)
	ctx, cancel := context.WithTimeout(ctx, grantTime)
	defer cancel()
	a, err := adapter.Connect(ctx, crm.Grant{Address: platform.Secret(b.WebhookURL),
		Proof: platform.Secret(b.ApplicationToken)})
	if err == nil {
		r.Pipelines, err = adapter.Pipelines(ctx, a)
	}
	if err != nil {
		return callerError(err, adapter.Facts().Label, "/webhook_url")
	}
	r.Pipelines = Described(r.Pipelines)
	if err := checkMapping(auth.FromContext(ctx), r.Pipelines, r.Mapping); err != nil {
		return err
	}
	err = s.accept(ctx, tx, o, r, it, Credentials{Account: a, Hook: hook})
	switch {
	case errors.Is(err, errAnother):
		return errs.Invalid("/webhook_url", "belongs to another account of the CRM than %s", r.ID)
	case errors.Is(err, errTwice):
		e := errs.New(errs.Duplicate, "The account of the CRM is connected already. Disconnect that integration, or "+
			"send its integration_id.")
		e.Param = "/webhook_url"
		return e
	}
	return err
}

var (
	errAnother = errors.New("crm: another account of the CRM")
	errTwice   = errors.New("crm: the account of the CRM is connected already")
)

// accept adds to the transaction that an integration is connected. It returns errAnother if the integration had a
// different account, and errTwice if a different integration has the account.
func (s *Service) accept(ctx context.Context, tx *store.Tx, o tenant.Owner, r *Record, it store.Item,
	c Credentials) error {
	switch {
	case r.Remote == "" || r.Remote == c.Account.ID:
	case o.Mode == tenant.Test:
		c.Account.ID = r.Remote // a grant of the sandbox is for no particular account
	default:
		return errAnother
	}
	known, err := s.db.Lookup(ctx, IdentityKey(o, r.Kind, c.Account.ID))
	if err != nil {
		return err
	}
	var named Identity
	if known.Kind != "" {
		if err := known.Decode(&named); err != nil {
			return err
		}
	}
	if named.Integration != "" && named.Integration != r.ID {
		return errTwice
	}
	r.Hook = web.HashBearer(c.Hook)
	if r.SealedCredentials, err = s.vault.Seal(ctx, o, r.ID, c); err != nil {
		return err
	}
	return r.Connect(tx, s.now(), o, it, known, c.Account)
}

// callerError returns the caller's error for an error of a CRM; param names the credential.
func callerError(err error, label, param string) error {
	var e *platform.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return errs.Wrap(err, errs.Timeout, "%s did not answer in time. Try again.", label)
	case platform.Ended(err) || platform.Refuses(err) || e.Code == platform.CodeTokenExpired:
		refused := errs.Invalid(param, "was refused by %s", label)
		refused.Cause = err
		return refused
	}
	unavailable := errs.Wrap(err, errs.ProviderUnavailable, "%s is unavailable at the moment. Try again later.", label)
	unavailable.RetryAfter = max(e.RetryAfter, 5*time.Second)
	return unavailable
}

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

// grantedAccount is the account of a CRM to which a grant gives access.
type grantedAccount struct {
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
	return consent.Asking{To: "your %s", Label: label, May: []string{
		"read your products, your deals and their stages", "add notes to your deals",
		"keep this access until you remove the application in %s",
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
	raw, err := json.Marshal(grantedAccount{a, pipelines})
	if err != nil {
		return nil, fmt.Errorf("crm: encode a grant: %w", err)
	}
	return []consent.Grant{{ID: a.ID, Name: a.Name, Account: raw}}, nil
}

func (i *subject) Keep(ctx context.Context, tx *store.Tx, it store.Item, c consent.Consent,
	g consent.Grant) (consent.ConnectedSubject, error) {
	var got grantedAccount
	if err := json.Unmarshal(g.Account, &got); err != nil {
		return consent.ConnectedSubject{}, errors.New("crm: decode a grant") // the cause could show a token
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
	return consent.ConnectedSubject{ID: i.r.ID, Name: text.ClipLine(got.Account.Name, 200),
		Text: "Its products and deals " +
			"are read now."}, err
}
