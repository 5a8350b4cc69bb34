// Package hubspot is the adapter of HubSpot. The webhooks of all accounts go to one address of the operator's
// application, and are signed with its secret. Start with Adapter; objects.go reads deals and products.
package hubspot

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// Name is the id of the CRM.
const Name = "hubspot"

// maxAge is the age at which a webhook is refused.
const maxAge = 5 * time.Minute

// scopes are what the application asks for. Notes need the scope of contacts.
var scopes = []string{"crm.objects.contacts.read", "crm.objects.contacts.write", "crm.objects.deals.read",
	"e-commerce", "oauth"}

// Adapter implements crm.Adapter.
type Adapter struct{ client *wire.Client }

var _ crm.Adapter = (*Adapter)(nil)

// New returns the adapter.
func New(c wire.Config) *Adapter { return &Adapter{wire.New(Name, c)} }

// Name implements crm.Adapter.
func (*Adapter) Name() string { return Name }

// Facts implements crm.Adapter.
func (*Adapter) Facts() crm.Facts { return crm.Facts{Label: "HubSpot", Shared: true} }

// Authorization implements crm.Connector.
func (a *Adapter) Authorization(ctx context.Context, in crm.Authorization) (string, error) {
	app, err := a.client.App(ctx)
	if err != nil {
		return "", err
	}
	return a.client.Base("https://app.hubspot.com") + "/oauth/authorize?" + url.Values{
		"client_id": {app.ID}, "redirect_uri": {in.RedirectURL}, "state": {in.State},
		"scope": {strings.Join(scopes, " ")},
	}.Encode(), nil
}

func (a *Adapter) api() string { return a.client.Base("https://api.hubapi.com") }

func (a *Adapter) token(ctx context.Context, form url.Values, secret platform.Secret,
	before platform.Token) (platform.Token, error) {
	app, err := a.client.App(ctx)
	if err != nil {
		return platform.Token{}, err
	}
	form.Set("client_id", app.ID)
	form.Set("client_secret", app.Secret.Reveal())
	call := wire.Call{Name: "token", Method: http.MethodPost, URL: a.api() + "/oauth/v1/token", Form: form,
		Secrets: []platform.Secret{app.Secret, secret}}
	var issued wire.Issued
	if err := crm.JSON(ctx, a.client, call, tokenRefused, &issued); err != nil {
		return platform.Token{}, err
	}
	return crm.Issued(a.client, call, issued, before)
}

// tokenRefused classifies the refusals of the token endpoint, which have a status such as BAD_REFRESH_TOKEN.
func tokenRefused(a wire.Answer) *platform.Error {
	var body struct {
		Status string `json:"status"`
	}
	if a.Status != http.StatusBadRequest || json.Unmarshal(a.Body, &body) != nil {
		return nil
	}
	if strings.Contains(body.Status, "CLIENT") {
		return platform.Later(platform.CodeNotConfigured, "The CRM refuses the service's application.")
	}
	return platform.Disconnected()
}

// Connect implements crm.Connector.
func (a *Adapter) Connect(ctx context.Context, g crm.Grant) (out crm.Account, err error) {
	if g.Code == "" {
		return out, platform.Disconnected()
	}
	if out.Token, err = a.token(ctx, url.Values{"grant_type": {"authorization_code"}, "code": {g.Code},
		"redirect_uri": {g.RedirectURL}}, platform.Secret(g.Code), platform.Token{}); err != nil {
		return out, err
	}
	var details struct {
		Portal   crm.Number `json:"portalId"`
		Domain   string     `json:"uiDomain"`
		Currency string     `json:"companyCurrency"`
	}
	err = a.get(ctx, out, "account", "/account-info/v3/details", nil, &details)
	out.ID, out.Currency, out.Name = string(details.Portal), details.Currency, "HubSpot "+string(details.Portal)
	return out, err
}

// Refresh implements crm.Connector. The refresh token stays valid.
func (a *Adapter) Refresh(ctx context.Context, acc crm.Account) (platform.Token, error) {
	t := acc.Token
	return a.token(ctx, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {t.Refresh.Reveal()}}, t.Refresh,
		t)
}

// Revoke implements crm.Connector.
func (a *Adapter) Revoke(ctx context.Context, acc crm.Account) error {
	t := acc.Token.Refresh
	err := crm.JSON(ctx, a.client, wire.Call{Name: "revoke", Method: http.MethodDelete,
		URL: a.api() + "/oauth/v1/refresh-tokens/" + url.PathEscape(t.Reveal()), Secrets: []platform.Secret{t}},
		crm.Refused, nil)
	if platform.Refuses(err) || platform.KindOf(err) == platform.Expired {
		return nil // it has ended
	}
	return err
}

// Subscribe implements crm.Connector. The operator subscribes the application.
func (*Adapter) Subscribe(context.Context, crm.Account, string) error { return nil }

// Unsubscribe implements crm.Connector.
func (*Adapter) Unsubscribe(context.Context, crm.Account, string) error { return nil }

// Hints implements crm.Connector. It verifies the signature of version 3. The hints name their accounts.
func (a *Adapter) Hints(ctx context.Context, _ crm.Account, h crm.Hook) (all []crm.Hint, err error) {
	app, err := a.client.App(ctx)
	if err != nil {
		return nil, err
	}
	stamp := h.Header.Get("X-HubSpot-Request-Timestamp")
	ms, err := strconv.ParseInt(stamp, 10, 64)
	if age := h.At.Sub(time.UnixMilli(ms)); err != nil || age > maxAge || age < -maxAge {
		return nil, crm.ErrForged
	}
	if !hmac.Equal([]byte(Signature(app.Secret, h.URL, h.Body, stamp)),
		[]byte(h.Header.Get("X-HubSpot-Signature-v3"))) {
		return nil, crm.ErrForged
	}
	var events []struct {
		Portal crm.Number `json:"portalId"`
		Type   string     `json:"subscriptionType"`
		ID     crm.Number `json:"objectId"`
	}
	if err := json.Unmarshal(h.Body, &events); err != nil {
		return nil, errors.Join(crm.ErrForged, err)
	}
	for _, e := range events {
		hint := crm.Hint{ID: string(e.ID), Account: string(e.Portal)}
		switch object, _, _ := strings.Cut(e.Type, "."); object {
		case "deal":
			hint.Object = crm.DealObject
		case "product":
			hint.Object = crm.ProductObject
		default:
			continue
		}
		all = append(all, hint)
	}
	return all, nil
}

// Signature returns the signature of version 3 of a webhook.
func Signature(secret platform.Secret, address string, body []byte, stamp string) string {
	mac := hmac.New(sha256.New, []byte(secret.Reveal()))
	mac.Write([]byte(http.MethodPost + address))
	mac.Write(body)
	mac.Write([]byte(stamp))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
