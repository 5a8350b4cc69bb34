// Package amocrm is the adapter of amoCRM and Kommo, which are one system. Each account has a host of its own, and its
// tokens are valid there. A refresh token is valid once. Start with Adapter: oauth in amocrm.go, deals and products in
// objects.go.
package amocrm

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// Name is the id of the CRM.
const Name = "amocrm"

// domains are the domains of the accounts' hosts.
var domains = []string{"amocrm.ru", "amocrm.com", "kommo.com"}

// events are the events that webhooks report. Changes of lists of products arrive if the customer adds them in the
// account.
var events = []string{"add_lead", "update_lead", "status_lead"}

// Adapter implements crm.Adapter.
type Adapter struct{ client *wire.Client }

var _ crm.Adapter = (*Adapter)(nil)

// New returns the adapter.
func New(c wire.Config) *Adapter { return &Adapter{wire.New(Name, c)} }

// Name implements crm.Adapter.
func (*Adapter) Name() string { return Name }

// Facts implements crm.Adapter.
func (*Adapter) Facts() crm.Facts { return crm.Facts{Label: "amoCRM", Site: true} }

// Authorization implements crm.Connector. The page of amoCRM lets the administrator choose the account.
func (a *Adapter) Authorization(ctx context.Context, in crm.Authorization) (string, error) {
	app, err := a.client.App(ctx)
	if err != nil {
		return "", err
	}
	// A portal chooses the site of Kommo.
	site := "https://www.amocrm.ru"
	if strings.HasSuffix(in.Portal, ".kommo.com") {
		site = "https://www.kommo.com"
	}
	return a.client.Base(site) + "/oauth?" + url.Values{"client_id": {app.ID}, "redirect_uri": {in.RedirectURL},
		"state": {in.State}}.Encode(), nil
}

// host returns the address of an account's host.
func (a *Adapter) host(domain string) string { return a.client.Base("https://" + domain) }

// known reports whether a host is one of amoCRM's accounts.
func known(host string) bool {
	name, domain, ok := strings.Cut(host, ".")
	return ok && name != "" && !strings.ContainsAny(host, "/:@?#") && slices.Contains(domains, domain)
}

func (a *Adapter) token(ctx context.Context, domain, redirect string, grant map[string]string, secret platform.Secret,
	before platform.Token) (platform.Token, error) {
	app, err := a.client.App(ctx)
	if err != nil {
		return platform.Token{}, err
	}
	grant["client_id"], grant["client_secret"], grant["redirect_uri"] = app.ID, app.Secret.Reveal(), redirect
	call := wire.Call{Name: "token", Method: http.MethodPost, URL: a.host(domain) + "/oauth2/access_token", JSON: grant,
		Secrets: []platform.Secret{app.Secret, secret}}
	var issued wire.Issued
	if err := crm.JSON(ctx, a.client, call, tokenRefused, &issued); err != nil {
		return platform.Token{}, err
	}
	return crm.Issued(a.client, call, issued, before)
}

// tokenRefused classifies the refusals of the token endpoint, which has problem details as body.
func tokenRefused(a wire.Answer) *platform.Error {
	var problem struct {
		Hint string `json:"hint"`
	}
	if a.Status < 400 || a.Status > 499 || a.Status == http.StatusTooManyRequests ||
		json.Unmarshal(a.Body, &problem) != nil {
		return nil
	}
	if strings.Contains(problem.Hint, "client") {
		return platform.Later(platform.CodeNotConfigured, "The CRM refuses the service's application.")
	}
	return platform.Disconnected()
}

// Connect implements crm.Connector. The callback names the host of the account, which decides where the code goes: a
// host that is not amoCRM's is refused.
func (a *Adapter) Connect(ctx context.Context, g crm.Grant) (out crm.Account, err error) {
	out.Domain, out.Redirect = g.Query.Get("referer"), g.RedirectURL
	if g.Code == "" || !known(out.Domain) {
		return out, platform.Disconnected()
	}
	if out.Token, err = a.token(ctx, out.Domain, out.Redirect, map[string]string{"grant_type": "authorization_code",
		"code": g.Code}, platform.Secret(g.Code), platform.Token{}); err != nil {
		return out, err
	}
	var account struct {
		ID       crm.Number `json:"id"`
		Name     string     `json:"name"`
		Currency string     `json:"currency"`
	}
	if err := a.get(ctx, out, "account", "/account", nil, &account); err != nil {
		return out, err
	}
	out.ID, out.Name, out.Currency = string(account.ID), account.Name, account.Currency
	var lists struct {
		Embedded struct {
			Catalogs []struct {
				ID   crm.Number `json:"id"`
				Type string     `json:"type"`
			} `json:"catalogs"`
		} `json:"_embedded"`
	}
	if err := a.get(ctx, out, "lists", "/catalogs", nil, &lists); err != nil {
		return out, err
	}
	for _, c := range lists.Embedded.Catalogs {
		if c.Type == "products" {
			out.Catalog = string(c.ID)
		}
	}
	return out, nil
}

// Refresh implements crm.Connector.
func (a *Adapter) Refresh(ctx context.Context, acc crm.Account) (platform.Token, error) {
	t := acc.Token
	return a.token(ctx, acc.Domain, acc.Redirect, map[string]string{"grant_type": "refresh_token",
		"refresh_token": t.Refresh.Reveal()}, t.Refresh, t)
}

// Revoke implements crm.Connector. amoCRM has no call that ends a token: its administrators remove the integration.
func (*Adapter) Revoke(context.Context, crm.Account) error { return nil }

// Subscribe implements crm.Connector. amoCRM keeps one webhook for an address.
func (a *Adapter) Subscribe(ctx context.Context, acc crm.Account, address string) error {
	return a.call(ctx, acc, wire.Call{Name: "subscribe", Method: http.MethodPost, URL: "/webhooks",
		JSON: map[string]any{"destination": address, "settings": events}}, nil)
}

// Unsubscribe implements crm.Connector.
func (a *Adapter) Unsubscribe(ctx context.Context, acc crm.Account, address string) error {
	err := a.call(ctx, acc, wire.Call{Name: "unsubscribe", Method: http.MethodDelete, URL: "/webhooks",
		JSON: map[string]any{"destination": address}}, nil)
	if crm.Gone(err) {
		return nil
	}
	return err
}

// Hints implements crm.Connector. amoCRM signs no webhooks: their address is the secret, and they name the account.
func (*Adapter) Hints(_ context.Context, acc crm.Account, h crm.Hook) (all []crm.Hint, err error) {
	form, err := url.ParseQuery(string(h.Body))
	if err != nil {
		return nil, errors.Join(crm.ErrForged, err)
	}
	if subtle.ConstantTimeCompare([]byte(form.Get("account[id]")), []byte(acc.ID)) != 1 {
		return nil, crm.ErrForged
	}
	for name, values := range form {
		parts := strings.Split(strings.TrimSuffix(name, "]"), "[") // leads[status][0][id]
		if len(parts) != 4 || parts[3] != "id" || len(values) == 0 {
			continue
		}
		switch parts[0] {
		case "leads":
			all = append(all, crm.Hint{Object: crm.DealObject, ID: values[0]})
		case "catalogs":
			all = append(all, crm.Hint{Object: crm.ProductObject, ID: values[0]})
		}
	}
	return all, nil
}
