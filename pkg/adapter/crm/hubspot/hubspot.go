// Package hubspot is the adapter of HubSpot. The webhooks of all accounts go to one address of the operator's
// application, and are signed with its secret. Start with Adapter.
package hubspot

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html"
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

// New returns the adapter. It makes no call.
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

// tokens is the path of the token endpoint. HubSpot ends that of version 1 on 16 February 2027
// (developers.hubspot.com/changelog/v1-oauth-api-deprecation).
const tokens = "/oauth/2026-03/token"

// proven returns a call of an endpoint of tokens that has the proof of the application in its form.
func (a *Adapter) proven(ctx context.Context, name, path string, form url.Values, secret platform.Secret) (wire.Call,
	error) {
	app, err := a.client.App(ctx)
	form.Set("client_id", app.ID)
	form.Set("client_secret", app.Secret.Reveal())
	return wire.Call{Name: name, Method: http.MethodPost, URL: a.api() + path, Form: form,
		Secrets: []platform.Secret{app.Secret, secret}}, err
}

func (a *Adapter) token(ctx context.Context, form url.Values, secret platform.Secret,
	before platform.Token) (platform.Token, error) {
	call, err := a.proven(ctx, "token", tokens, form, secret)
	if err != nil {
		return platform.Token{}, err
	}
	var issued wire.TokenAnswer
	if err := crm.JSON(ctx, a.client, call, classifyToken, &issued); err != nil {
		return platform.Token{}, err
	}
	return crm.TokenOf(a.client, call, issued, before)
}

// classifyToken classifies the refusals of the token endpoint, which have a status such as BAD_REFRESH_TOKEN, or the
// error of RFC 6749, 5.2. Only one about the refresh token or the code ends the access.
func classifyToken(a wire.Answer) *platform.Error {
	var body struct {
		Status string `json:"status"`
	}
	_ = json.Unmarshal(a.Body, &body) // the status stays empty where the body is another one
	switch {
	case a.Status != http.StatusBadRequest && a.Status != http.StatusUnauthorized:
		return nil
	case strings.Contains(body.Status, "CLIENT"):
		return platform.Later(platform.CodeNotConfigured, "The CRM refuses the service's application.")
	case strings.Contains(body.Status, "REFRESH_TOKEN"), strings.Contains(body.Status, "AUTH_CODE"):
		return platform.Disconnected()
	}
	return wire.ClassifyOAuth(a)
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
	call, err := a.proven(ctx, "revoke", tokens+"/revoke", url.Values{"token": {t.Reveal()},
		"token_type_hint": {"refresh_token"}}, t)
	if err != nil {
		return err
	}
	return platform.Revoked(crm.JSON(ctx, a.client, call, classifyToken, nil))
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
	if !hmac.Equal([]byte(signature(app.Secret, h.URL, h.Body, stamp)),
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

// signature returns the signature of version 3 of a webhook.
func signature(secret platform.Secret, address string, body []byte, stamp string) string {
	mac := hmac.New(sha256.New, []byte(secret.Reveal()))
	mac.Write([]byte(http.MethodPost + address))
	mac.Write(body)
	mac.Write([]byte(stamp))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// pageSize is the number of objects of a page, which is the most of the API.
const pageSize = 100

// noteToDeal is the type of the association of a note with a deal.
const noteToDeal = 214

const (
	entered        = "hs_v2_date_entered_current_stage"
	dealProperties = "dealname,description,dealstage,pipeline,amount,deal_currency_code," +
		"hs_lastmodifieddate," + entered
	productProperties = "name,description,price,hs_sku,hs_url"
)

func (a *Adapter) call(ctx context.Context, acc crm.Account, call wire.Call, out any) error {
	call.URL, call.Bearer = a.api()+call.URL, acc.Token.Access
	return crm.JSON(ctx, a.client, call, crm.Classify, out)
}

func (a *Adapter) get(ctx context.Context, acc crm.Account, name, path string, q url.Values, out any) error {
	return a.call(ctx, acc, wire.Call{Name: name, Method: http.MethodGet, URL: path, Query: q}, out)
}

// post makes a call that reads by a body.
func (a *Adapter) post(ctx context.Context, acc crm.Account, name, path string, body, out any) error {
	return a.call(ctx, acc, wire.Call{Name: name, Method: http.MethodPost, URL: path, JSON: body}, out)
}

// Pipelines implements crm.Objects.
func (a *Adapter) Pipelines(ctx context.Context, acc crm.Account) (all []crm.Pipeline, err error) {
	type labeled struct {
		ID       string `json:"id"`
		Label    string `json:"label"`
		Archived bool   `json:"archived"`
	}
	var list struct {
		Results []struct {
			labeled
			Stages []labeled `json:"stages"`
		} `json:"results"`
	}
	if err := a.get(ctx, acc, "pipelines", "/crm/v3/pipelines/deals", nil, &list); err != nil {
		return nil, err
	}
	for _, p := range list.Results {
		one := crm.Pipeline{ID: p.ID, Name: p.Label}
		for _, s := range p.Stages {
			if !s.Archived {
				one.Stages = append(one.Stages, crm.Stage{ID: s.ID, Name: s.Label})
			}
		}
		all = append(all, one)
	}
	return all, nil
}

// object is an object with its properties.
type object struct {
	ID         string                `json:"id"`
	Archived   bool                  `json:"archived"`
	Properties map[string]crm.Number `json:"properties"`
}

func (o object) text(name string) string { return string(o.Properties[name]) }

type objects struct {
	Results []object `json:"results"`
	Paging  struct {
		Next struct {
			After string `json:"after"`
		} `json:"next"`
	} `json:"paging"`
}

func (o object) product(currency string) crm.Product {
	return crm.Product{ID: o.ID, SKU: o.text("hs_sku"), Name: o.text("name"),
		Description: crm.Plain(o.text("description")), URL: o.text("hs_url"),
		Price: o.text("price"), Currency: currency, Archived: o.Archived}
}

// Products implements crm.Objects.
func (a *Adapter) Products(ctx context.Context, acc crm.Account,
	cursor string) (page crm.Page[crm.Product], err error) {
	q := url.Values{"limit": {strconv.Itoa(pageSize)}, "properties": {productProperties}}
	if cursor != "" {
		q.Set("after", cursor)
	}
	var list objects
	if err := a.get(ctx, acc, "products", "/crm/v3/objects/products", q, &list); err != nil {
		return page, err
	}
	for _, o := range list.Results {
		page.Items = append(page.Items, o.product(acc.Currency))
	}
	page.Next = list.Paging.Next.After
	return page, nil
}

// Product implements crm.Objects.
func (a *Adapter) Product(ctx context.Context, acc crm.Account, productID string) (crm.Product, error) {
	var o object
	err := a.get(ctx, acc, "product", "/crm/v3/objects/products/"+url.PathEscape(productID),
		url.Values{"properties": {productProperties}}, &o)
	return o.product(acc.Currency), err
}

// Existing implements crm.Objects.
func (a *Adapter) Existing(ctx context.Context, acc crm.Account, productIDs []string) (found []string, err error) {
	list, err := a.batch(ctx, acc, "products", "name", productIDs)
	for _, o := range list {
		if !o.Archived {
			found = append(found, o.ID)
		}
	}
	return found, err
}

// batch reads objects by their ids. Objects that were deleted are left out.
func (a *Adapter) batch(ctx context.Context, acc crm.Account, kind, property string, ids []string) ([]object, error) {
	inputs := make([]map[string]string, len(ids))
	for i, id := range ids {
		inputs[i] = map[string]string{"id": id}
	}
	var list objects
	err := a.post(ctx, acc, "read "+kind, "/crm/v3/objects/"+kind+"/batch/read", map[string]any{
		"properties": []string{property}, "inputs": inputs}, &list)
	return list.Results, err
}

func (o object) deal(currency string) crm.Deal {
	d := crm.Deal{ID: o.ID, Name: o.text("dealname"), Description: crm.Plain(o.text("description")),
		Pipeline: o.text("pipeline"), Stage: o.text("dealstage"),
		Amount: o.text("amount"), Currency: o.text("deal_currency_code")}
	d.Currency = cmp.Or(d.Currency, currency)
	d.ChangedAt, _ = time.Parse(time.RFC3339, o.text("hs_lastmodifieddate")) // zero is an unknown time
	d.EnteredAt, _ = time.Parse(time.RFC3339, o.text(entered))
	return d
}

// Deals implements crm.Objects.
func (a *Adapter) Deals(ctx context.Context, acc crm.Account, since time.Time,
	cursor string) (page crm.Page[crm.Deal], err error) {
	body := map[string]any{
		"filterGroups": []any{map[string]any{"filters": []any{map[string]string{"propertyName": "hs_lastmodifieddate",
			"operator": "GTE", "value": strconv.FormatInt(since.UnixMilli(), 10)}}}},
		"sorts":      []any{map[string]string{"propertyName": "hs_lastmodifieddate", "direction": "ASCENDING"}},
		"properties": strings.Split(dealProperties, ","), "limit": pageSize,
	}
	if cursor != "" {
		body["after"] = cursor
	}
	var list objects
	if err := a.post(ctx, acc, "deals", "/crm/v3/objects/deals/search", body, &list); err != nil {
		return page, err
	}
	for _, o := range list.Results {
		page.Items = append(page.Items, o.deal(acc.Currency))
	}
	page.Next = list.Paging.Next.After
	return page, nil
}

// Deal implements crm.Objects.
func (a *Adapter) Deal(ctx context.Context, acc crm.Account, dealID string) (crm.Deal, error) {
	var o object
	err := a.get(ctx, acc, "deal", "/crm/v3/objects/deals/"+url.PathEscape(dealID),
		url.Values{"properties": {dealProperties}}, &o)
	return o.deal(acc.Currency), err
}

// HasNote implements crm.Objects. It follows the associations of the deal, because the search finds a note late.
func (a *Adapter) HasNote(ctx context.Context, acc crm.Account, dealID, text string) (bool, error) {
	for after := ""; ; {
		q := url.Values{"limit": {strconv.Itoa(pageSize)}}
		if after != "" {
			q.Set("after", after)
		}
		var list struct {
			objects
			Results []struct {
				ID crm.Number `json:"toObjectId"`
			} `json:"results"`
		}
		if err := a.get(ctx, acc, "notes", "/crm/v4/objects/deals/"+url.PathEscape(dealID)+"/associations/notes", q,
			&list); err != nil {
			return false, err
		}
		var ids []string
		for _, r := range list.Results {
			ids = append(ids, string(r.ID))
		}
		if len(ids) > 0 {
			notes, err := a.batch(ctx, acc, "notes", "hs_note_body", ids)
			if err != nil {
				return false, err
			}
			for _, n := range notes {
				if strings.Contains(n.text("hs_note_body"), text) {
					return true, nil
				}
			}
		}
		if after = list.Paging.Next.After; after == "" {
			return false, nil
		}
	}
}

// AddNote implements crm.Objects. The body of a note is HTML.
func (a *Adapter) AddNote(ctx context.Context, acc crm.Account, dealID, text string) error {
	body := strings.ReplaceAll(html.EscapeString(text), "\n", "<br>")
	return a.call(ctx, acc, wire.Call{Name: "add a note", Method: http.MethodPost, URL: "/crm/v3/objects/notes",
		Posts: true, JSON: map[string]any{
			"properties": map[string]string{"hs_note_body": body,
				"hs_timestamp": a.client.Now().UTC().Format("2006-01-02T15:04:05.000Z")},
			"associations": []any{map[string]any{"to": map[string]string{"id": dealID}, "types": []any{map[string]any{
				"associationCategory": "HUBSPOT_DEFINED", "associationTypeId": noteToDeal}}}},
		}}, nil)
}
