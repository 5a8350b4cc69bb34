// Package amocrm is the adapter of amoCRM and Kommo, which are one system. Each account has a host of its own, and its
// tokens are valid there. A refresh token is valid once. Start with Adapter.
package amocrm

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

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

// New returns the adapter. It makes no call.
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
	var issued wire.TokenAnswer
	if err := crm.JSON(ctx, a.client, call, classifyToken, &issued); err != nil {
		return platform.Token{}, err
	}
	return crm.TokenOf(a.client, call, issued, before)
}

// classifyToken classifies the refusals of the token endpoint, which has problem details as body. Only a hint about the
// token or the code ends the access. Other hints, and a body without one, are about the application or the form
// (amocrm-api-php #235), and the status 403 about the address of the service (#563).
func classifyToken(a wire.Answer) *platform.Error {
	var problem struct {
		Hint string `json:"hint"`
	}
	if a.Status != http.StatusBadRequest && a.Status != http.StatusUnauthorized ||
		json.Unmarshal(a.Body, &problem) != nil {
		return nil
	}
	hint := strings.ToLower(problem.Hint)
	own := strings.Contains(hint, "client") || strings.HasPrefix(hint, "check the")
	if !own && (strings.Contains(hint, "token") || strings.Contains(hint, "code")) {
		return platform.Disconnected()
	}
	return platform.Later(platform.CodeNotConfigured, "The CRM refuses the service's application.")
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

// pageSize is the number of objects of a page, of at most 250.
const pageSize = 100

func (a *Adapter) call(ctx context.Context, acc crm.Account, call wire.Call, out any) error {
	call.URL, call.Bearer = a.host(acc.Domain)+"/api/v4"+call.URL, acc.Token.Access
	return crm.JSON(ctx, a.client, call, crm.Classify, out)
}

func (a *Adapter) get(ctx context.Context, acc crm.Account, name, path string, q url.Values, out any) error {
	return a.call(ctx, acc, wire.Call{Name: name, Method: http.MethodGet, URL: path, Query: q}, out)
}

type name struct {
	ID   crm.Number `json:"id"`
	Name string     `json:"name"`
}

// Pipelines implements crm.Objects.
func (a *Adapter) Pipelines(ctx context.Context, acc crm.Account) (all []crm.Pipeline, err error) {
	var list struct {
		Embedded struct {
			Pipelines []struct {
				name
				Embedded struct {
					Statuses []name `json:"statuses"`
				} `json:"_embedded"`
			} `json:"pipelines"`
		} `json:"_embedded"`
	}
	if err := a.get(ctx, acc, "pipelines", "/leads/pipelines", nil, &list); err != nil {
		return nil, err
	}
	for _, p := range list.Embedded.Pipelines {
		one := crm.Pipeline{ID: string(p.ID), Name: p.Name}
		for _, s := range p.Embedded.Statuses {
			one.Stages = append(one.Stages, crm.Stage{ID: string(s.ID), Name: s.Name})
		}
		all = append(all, one)
	}
	return all, nil
}

// element is a product: an element of the list of products, whose properties are fields with codes.
type element struct {
	name
	Deleted bool `json:"is_deleted"`
	Fields  []struct {
		Code   string `json:"field_code"`
		Values []struct {
			Value crm.Number `json:"value"`
		} `json:"values"`
	} `json:"custom_fields_values"`
}

func (e element) product(currency string) crm.Product {
	p := crm.Product{ID: string(e.ID), Name: e.Name, Currency: currency, Archived: e.Deleted}
	for _, f := range e.Fields {
		if len(f.Values) == 0 {
			continue
		}
		value := string(f.Values[0].Value)
		switch f.Code {
		case "SKU":
			p.SKU = value
		case "PRICE":
			p.Price = value
		case "DESCRIPTION":
			p.Description = crm.Plain(value)
		}
	}
	return p
}

type elements struct {
	Links    links `json:"_links"`
	Embedded struct {
		Elements []element `json:"elements"`
	} `json:"_embedded"`
}

type links struct {
	Next struct {
		Href string `json:"href"`
	} `json:"next"`
}

// after returns the cursor of the page after that of a cursor, or an empty one if the page was the last.
func (l links) after(cursor string) string {
	if l.Next.Href == "" {
		return ""
	}
	n, err := strconv.Atoi(cursor)
	if err != nil {
		n = 1
	}
	return strconv.Itoa(n + 1)
}

func pageQuery(cursor string) url.Values {
	cursor = cmp.Or(cursor, "1")
	return url.Values{"page": {cursor}, "limit": {strconv.Itoa(pageSize)}}
}

// Products implements crm.Objects. An account without a list of products has none.
func (a *Adapter) Products(ctx context.Context, acc crm.Account,
	cursor string) (page crm.Page[crm.Product], err error) {
	if acc.Catalog == "" {
		return page, nil
	}
	var list elements
	if err := a.get(ctx, acc, "products", "/catalogs/"+acc.Catalog+"/elements", pageQuery(cursor), &list); err != nil {
		return page, err
	}
	for _, e := range list.Embedded.Elements {
		page.Items = append(page.Items, e.product(acc.Currency))
	}
	page.Next = list.Links.after(cursor)
	return page, nil
}

// Product implements crm.Objects.
func (a *Adapter) Product(ctx context.Context, acc crm.Account, productID string) (crm.Product, error) {
	if acc.Catalog == "" {
		return crm.Product{}, crm.NotFound()
	}
	var e element
	if err := a.get(ctx, acc, "product", "/catalogs/"+acc.Catalog+"/elements/"+url.PathEscape(productID), nil,
		&e); err != nil {
		return crm.Product{}, err
	}
	if e.ID == "" || e.Deleted {
		return crm.Product{}, crm.NotFound() // a status without content
	}
	return e.product(acc.Currency), nil
}

// Existing implements crm.Objects.
func (a *Adapter) Existing(ctx context.Context, acc crm.Account, productIDs []string) (found []string, err error) {
	q := pageQuery("")
	for _, id := range productIDs {
		q.Add("filter[id][]", id)
	}
	var list elements
	if err := a.get(ctx, acc, "existing products", "/catalogs/"+acc.Catalog+"/elements", q, &list); err != nil {
		return nil, err
	}
	for _, e := range list.Embedded.Elements {
		if !e.Deleted {
			found = append(found, string(e.ID))
		}
	}
	return found, nil
}

type lead struct {
	name
	Price    crm.Number `json:"price"`
	Status   crm.Number `json:"status_id"`
	Pipeline crm.Number `json:"pipeline_id"`
	Updated  int64      `json:"updated_at"`
	Closed   int64      `json:"closed_at"`
	Deleted  bool       `json:"is_deleted"`
}

func (l lead) deal(currency string) crm.Deal {
	d := crm.Deal{ID: string(l.ID), Name: l.Name, Pipeline: string(l.Pipeline), Stage: string(l.Status),
		Amount: string(l.Price), Currency: currency, ChangedAt: time.Unix(l.Updated, 0)}
	if l.Closed > 0 { // the time of another stage is told only by events
		d.EnteredAt = time.Unix(l.Closed, 0)
	}
	return d
}

// Deals implements crm.Objects.
func (a *Adapter) Deals(ctx context.Context, acc crm.Account, since time.Time,
	cursor string) (page crm.Page[crm.Deal], err error) {
	q := pageQuery(cursor)
	q.Set("filter[updated_at][from]", strconv.FormatInt(since.Unix(), 10))
	q.Set("order[id]", "asc")
	var list struct {
		Links    links `json:"_links"`
		Embedded struct {
			Leads []lead `json:"leads"`
		} `json:"_embedded"`
	}
	if err := a.get(ctx, acc, "deals", "/leads", q, &list); err != nil {
		return page, err
	}
	for _, l := range list.Embedded.Leads {
		page.Items = append(page.Items, l.deal(acc.Currency))
	}
	page.Next = list.Links.after(cursor)
	return page, nil
}

// Deal implements crm.Objects.
func (a *Adapter) Deal(ctx context.Context, acc crm.Account, dealID string) (crm.Deal, error) {
	var l lead
	if err := a.get(ctx, acc, "deal", "/leads/"+url.PathEscape(dealID), nil, &l); err != nil {
		return crm.Deal{}, err
	}
	if l.ID == "" || l.Deleted {
		return crm.Deal{}, crm.NotFound()
	}
	return l.deal(acc.Currency), nil
}

func notes(dealID string) string { return "/leads/" + url.PathEscape(dealID) + "/notes" }

// HasNote implements crm.Objects.
func (a *Adapter) HasNote(ctx context.Context, acc crm.Account, dealID, text string) (bool, error) {
	for cursor := "1"; cursor != ""; {
		var list struct {
			Links    links `json:"_links"`
			Embedded struct {
				Notes []struct {
					Params struct {
						Text string `json:"text"`
					} `json:"params"`
				} `json:"notes"`
			} `json:"_embedded"`
		}
		q := pageQuery(cursor)
		q.Set("filter[note_type]", "common")
		if err := a.get(ctx, acc, "notes", notes(dealID), q, &list); err != nil {
			return false, err
		}
		for _, n := range list.Embedded.Notes {
			if strings.Contains(n.Params.Text, text) {
				return true, nil
			}
		}
		cursor = list.Links.after(cursor)
	}
	return false, nil
}

// AddNote implements crm.Objects.
func (a *Adapter) AddNote(ctx context.Context, acc crm.Account, dealID, text string) error {
	return a.call(ctx, acc, wire.Call{Name: "add a note", Method: http.MethodPost, URL: notes(dealID), Posts: true,
		JSON: []any{map[string]any{"note_type": "common", "params": map[string]string{"text": text}}}}, nil)
}
