package crm

import (
	"context"
	"crypto/hmac"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/crm/integration"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/bearer"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/store"

	customer "github.com/content-automation/api/pkg/area/account"
)

// CallbackPath is the path to which a CRM sends the browser of its administrator.
const CallbackPath = "/integrations/callback"

// CallbackOperation is the operation of the callback in the audit log.
const CallbackOperation = "integrations.callback"

// linkParam is the parameter of the callback's path that has the state of a link. With it, the path shows who asks for
// access, and changes nothing.
const linkParam = "link"

// maxTries bounds the attempts at a change that conflicts with concurrent changes.
const maxTries = 4

// With returns the handler of the function. It serves the callback and the webhooks, which need no key, and the
// operations.
func (s *Service) With(operations http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		token, hook := strings.CutPrefix(req.URL.Path, integration.HooksPath)
		switch {
		case hook && req.Method == http.MethodPost:
			w.WriteHeader(s.hook(req, token))
		case hook:
			w.Header().Set("Allow", http.MethodPost)
			w.WriteHeader(http.StatusMethodNotAllowed)
		case req.URL.Path != CallbackPath:
			operations.ServeHTTP(w, req)
		case req.Method != http.MethodGet:
			w.Header().Set("Allow", http.MethodGet)
			page{Status: http.StatusMethodNotAllowed, Title: "Open the link in a browser"}.write(w)
		case req.URL.Query().Has(linkParam):
			s.link(req.Context(), req.URL.Query().Get(linkParam)).write(w)
		default:
			began, v := s.now(), &visit{Service: s}
			p := v.callback(req)
			v.record(p, req, began)
			p.write(w)
		}
	})
}

// visit is one call of the callback, or of the page of a link.
type visit struct {
	*Service
	nonce string // its hash
	// held is the authority of who asked, with its present rights.
	held authority.Held
	it   store.Item
	r    integration.Record
}

// open reads the integration of a state, and reports whether the integration waits for this state.
func (v *visit) open(ctx context.Context, state string) (bool, error) {
	integrationID, nonce, _ := strings.Cut(state, ".")
	if !id.Valid(id.Integration, integrationID) {
		return false, nil
	}
	v.nonce = bearer.Hash(nonce)
	it, err := v.db.Get(ctx, store.IDKey(integrationID))
	if errors.Is(err, store.ErrNotFound) || err == nil && it.Kind != integration.Kind {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	v.it = it
	if v.r, err = integration.Decode(&it); err != nil {
		return false, err
	}
	if v.r.Consent == nil || !bearer.Matches(nonce, v.r.Consent.Nonce) {
		return false, nil
	}
	v.held, err = v.r.Authority.Find(ctx, v.db, it.Owner, v.now())
	if err == nil {
		err = authority.Lacks(v.held.Principal, auth.AccountManage)
	}
	return err == nil, err
}

// link returns the page that names the customer who asks for access. The administrator sees it before the page of the
// CRM, which names only the operator's application.
func (s *Service) link(ctx context.Context, state string) page {
	v := &visit{Service: s}
	if open, err := v.open(ctx, state); errors.As(err, new(*authority.EndedError)) {
		return linkEnded
	} else if err != nil {
		return broken("read the state", err)
	} else if !open || !v.r.Consent.Open(s.now()) {
		return linkInvalid
	}
	adapter := s.systems.Of(v.it.Owner.Mode, v.r.Kind)
	address, err := adapter.Authorization(ctx, v.r.Consent.Authorization(state))
	if err != nil {
		return broken("find the CRM's page", err)
	}
	name, err := s.customer(ctx, v.it.Owner.Account)
	if err != nil {
		return broken("read the customer", err)
	}
	label := adapter.Facts().Label
	return page{Status: http.StatusOK, Title: name + " asks for access to your " + label, cookie: v.cookie(),
		Ask: &request{Customer: name, AccountID: string(v.it.Owner.Account), CRM: label, Address: address}}
}

// customer returns the name of a customer's account as one line.
func (s *Service) customer(ctx context.Context, account tenant.Account) (string, error) {
	it, err := s.db.Get(ctx, store.IDKey(string(account)))
	if err != nil {
		return "", err
	}
	var a customer.Account
	if err := it.Decode(&a); err != nil {
		return "", err
	}
	if name := integration.Line(a.Name, 200); name != "" {
		return name, nil
	}
	return string(account), nil
}

// cookie returns the cookie of a browser that has shown the page of the link. The callback refuses a browser without
// it, because the CRM's page can be opened without the page of the link. With TLS, no other site of the domain can set
// the cookie.
func (v *visit) cookie() *http.Cookie {
	name, secure := "integration_"+v.r.ID, strings.HasPrefix(v.r.Consent.Redirect, "https://")
	if secure {
		name = "__Host-" + name
	}
	return &http.Cookie{Name: name, Value: v.nonce, Path: "/",
		MaxAge: int(consentTime / time.Second), Secure: secure, HttpOnly: true, SameSite: http.SameSiteLaxMode}
}

// shownTo reports whether the browser has shown the page of the link. The sandbox has no such page.
func (v *visit) shownTo(req *http.Request) bool {
	want := v.cookie()
	for _, c := range req.CookiesNamed(want.Name) {
		if hmac.Equal([]byte(c.Value), []byte(want.Value)) {
			return true
		}
	}
	return v.it.Owner.Mode == tenant.Test
}

// The failures of a callback in the audit log.
const (
	failedUsed        = "link_used"
	failedExpired     = "expired"
	failedElsewhere   = "other_browser"
	failedDenied      = "access_denied"
	failedRefused     = "platform_refused"
	failedUnavailable = "platform_unavailable"
	failedAnother     = "another_account"
	failedBroken      = "internal"
	failedEnded       = authority.Code
)

// callback carries out the decision of the CRM's administrator. It logs neither the code nor the state.
func (v *visit) callback(req *http.Request) page {
	ctx, q := req.Context(), req.URL.Query()
	open, err := v.open(ctx, q.Get("state"))
	switch {
	case errors.As(err, new(*authority.EndedError)):
		return linkEnded
	case err != nil:
		return broken("read the state", err)
	case !open && v.it.Kind == "":
		return linkInvalid
	case !open:
		return linkInvalid.as(failedUsed)
	case !v.r.Consent.Open(v.now()):
		return linkInvalid.as(failedExpired)
	case !v.shownTo(req):
		return page{Status: http.StatusForbidden, Title: "See first who asks for access", code: failedElsewhere,
			Link: v.r.Consent.Redirect + "?" + url.Values{linkParam: {q.Get("state")}}.Encode(),
			Text: "Nothing was connected: this browser was not shown who asks. Open the page below, and allow the " +
				"access again."}
	}
	consent := *v.r.Consent
	if claimed, err := v.claim(ctx, q.Get("state")); err != nil {
		return broken("claim the state", err)
	} else if !claimed {
		return linkInvalid.as(failedUsed)
	}
	if q.Get("code") == "" {
		return nothing(http.StatusForbidden, failedDenied, "Access was not granted.")
	}
	return v.exchange(ctx, q, consent)
}

// claim uses the state up, and reports whether it was still unused.
func (v *visit) claim(ctx context.Context, state string) (bool, error) {
	for range maxTries {
		v.r.Consent = nil
		tx := &store.Tx{}
		v.held.Hold(tx)
		if err := v.r.Save(tx, v.now(), v.it.Owner, v.it, ""); err != nil {
			return false, err
		}
		if err := v.db.Commit(ctx, tx); !errors.Is(err, store.ErrConflict) {
			return err == nil, err
		}
		if open, err := v.open(ctx, state); err != nil || !open {
			return false, err
		}
	}
	return false, store.ErrConflict
}

// exchange exchanges the code, and connects the integration.
func (v *visit) exchange(ctx context.Context, q url.Values, consent integration.Consent) page {
	var c integration.Credentials
	if err := v.vault.Open(ctx, v.it.Owner, v.r.ID, consent.Sealed, &c); err != nil {
		return broken("open the secrets", err)
	}
	adapter := v.systems.Of(v.it.Owner.Mode, v.r.Kind)
	bounded, cancel := context.WithTimeout(ctx, grantTime)
	defer cancel()
	q.Set("portal", consent.Portal)
	a, err := adapter.Connect(bounded, crm.Grant{Code: q.Get("code"), RedirectURL: consent.Redirect, Query: q})
	var pipelines []crm.Pipeline
	if err == nil {
		// The first synchronization reads them, too.
		if pipelines, err = adapter.Pipelines(bounded, a); err != nil {
			slog.Warn("pipelines not read", "integration_id", v.r.ID, "error", err)
			err = nil
		}
	}
	switch kind := platform.KindOf(err); {
	case err != nil && (kind == platform.Reconnect || kind == platform.BadContent):
		slog.Warn("integration not connected", "integration_id", v.r.ID, "kind", v.r.Kind, "error", err)
		return nothing(http.StatusBadRequest, failedRefused, adapter.Facts().Label+" has refused the access.")
	case err != nil:
		slog.Warn("integration not connected", "integration_id", v.r.ID, "kind", v.r.Kind, "error", err)
		return nothing(http.StatusBadGateway, failedUnavailable, "The CRM is unavailable at the moment. Ask for a new "+
			"link, and try again later.")
	}
	c.Account = a
	err = store.ErrConflict
	for try := 0; try < maxTries && errors.Is(err, store.ErrConflict); try++ {
		err = v.finish(ctx, c, pipelines)
	}
	switch {
	case errors.Is(err, errAnother):
		return nothing(http.StatusBadRequest, failedAnother, "The account to connect again is "+v.r.Name+". Sign in to "+
			"the CRM with that one.")
	case errors.Is(err, errTwice):
		return nothing(http.StatusBadRequest, failedAnother, "This account of the CRM is connected already.")
	case err != nil:
		return broken("connect the integration", err)
	}
	slog.Info("integration connected", "account", v.it.Owner.Account, "mode", v.it.Owner.Mode, "integration_id", v.r.ID,
		"kind", v.r.Kind)
	return page{Status: http.StatusOK, Title: integration.Line(a.Name, 200) + " is connected",
		Text: "Its products and deals are read now."}
}

// finish connects the integration with its present record.
func (v *visit) finish(ctx context.Context, c integration.Credentials, pipelines []crm.Pipeline) error {
	it, err := v.db.Get(ctx, v.it.Key)
	if err != nil {
		return err
	}
	r, err := integration.Decode(&it)
	if err != nil {
		return err
	}
	if len(pipelines) > 0 {
		r.Pipelines = integration.Described(pipelines)
	}
	tx := &store.Tx{}
	if err := v.accept(ctx, tx, it.Owner, &r, it, c); err != nil {
		return err
	}
	return v.db.Commit(ctx, tx)
}

// record writes the end of an authorization to the audit log of its customer. The entry has no part of the query.
func (v *visit) record(p page, req *http.Request, began time.Time) {
	if v.it.Kind == "" {
		return
	}
	ctx, g, now := context.WithoutCancel(req.Context()), httpapi.GatewayOf(req.Context()), v.now()
	err := v.audit.Record(ctx, httpapi.Call{
		RequestID: g.RequestID, Principal: &auth.Principal{Owner: v.it.Owner,
			Actor: auth.Actor{Kind: auth.Integration, ID: v.it.PK}},
		OperationID: CallbackOperation, Method: http.MethodGet, Path: CallbackPath, Status: p.Status, ErrorCode: p.code,
		IP: g.SourceIP, UserAgent: g.UserAgent, At: began, Latency: now.Sub(began),
	})
	if err != nil {
		slog.Error("audit entry lost", "request_id", g.RequestID, "operation_id", CallbackOperation, "error", err)
	}
}
