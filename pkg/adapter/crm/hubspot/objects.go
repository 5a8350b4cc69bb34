package hubspot

import (
	"context"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

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
	return crm.JSON(ctx, a.client, call, crm.Refused, out)
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
	if d.Currency == "" {
		d.Currency = currency
	}
	d.Changed, _ = time.Parse(time.RFC3339, o.text("hs_lastmodifieddate")) // zero is an unknown time
	d.Entered, _ = time.Parse(time.RFC3339, o.text(entered))
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
