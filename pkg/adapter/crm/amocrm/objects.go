package amocrm

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// pageSize is the number of objects of a page, of at most 250.
const pageSize = 100

func (a *Adapter) call(ctx context.Context, acc crm.Account, call wire.Call, out any) error {
	call.URL, call.Bearer = a.host(acc.Domain)+"/api/v4"+call.URL, acc.Token.Access
	return crm.JSON(ctx, a.client, call, crm.Refused, out)
}

func (a *Adapter) get(ctx context.Context, acc crm.Account, name, path string, q url.Values, out any) error {
	return a.call(ctx, acc, wire.Call{Name: name, Method: http.MethodGet, URL: path, Query: q}, out)
}

type named struct {
	ID   crm.Number `json:"id"`
	Name string     `json:"name"`
}

// Pipelines implements crm.Objects.
func (a *Adapter) Pipelines(ctx context.Context, acc crm.Account) (all []crm.Pipeline, err error) {
	var list struct {
		Embedded struct {
			Pipelines []struct {
				named
				Embedded struct {
					Statuses []named `json:"statuses"`
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
	named
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

func paged(cursor string) url.Values {
	if cursor == "" {
		cursor = "1"
	}
	return url.Values{"page": {cursor}, "limit": {strconv.Itoa(pageSize)}}
}

// Products implements crm.Objects. An account without a list of products has none.
func (a *Adapter) Products(ctx context.Context, acc crm.Account,
	cursor string) (page crm.Page[crm.Product], err error) {
	if acc.Catalog == "" {
		return page, nil
	}
	var list elements
	if err := a.get(ctx, acc, "products", "/catalogs/"+acc.Catalog+"/elements", paged(cursor), &list); err != nil {
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
	q := paged("")
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
	named
	Price    crm.Number `json:"price"`
	Status   crm.Number `json:"status_id"`
	Pipeline crm.Number `json:"pipeline_id"`
	Updated  int64      `json:"updated_at"`
	Closed   int64      `json:"closed_at"`
	Deleted  bool       `json:"is_deleted"`
}

func (l lead) deal(currency string) crm.Deal {
	d := crm.Deal{ID: string(l.ID), Name: l.Name, Pipeline: string(l.Pipeline), Stage: string(l.Status),
		Amount: string(l.Price), Currency: currency, Changed: time.Unix(l.Updated, 0)}
	if l.Closed > 0 { // the time of another stage is told only by events
		d.Entered = time.Unix(l.Closed, 0)
	}
	return d
}

// Deals implements crm.Objects.
func (a *Adapter) Deals(ctx context.Context, acc crm.Account, since time.Time,
	cursor string) (page crm.Page[crm.Deal], err error) {
	q := paged(cursor)
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
		q := paged(cursor)
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
