package bitrix24

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// dealType is the type of deals among the CRM's entities.
const dealType = 2

// list is an answer with a page of at most 50 objects. Next is the number of the next object, or absent.
type list[T any] struct {
	Result []T        `json:"result"`
	Next   crm.Number `json:"next"`
}

// from sets the first object of a page.
func from(cursor string, body map[string]any) map[string]any {
	if n, err := strconv.Atoi(cursor); err == nil {
		body["start"] = n
	}
	return body
}

// Pipelines implements crm.Objects.
func (a *Adapter) Pipelines(ctx context.Context, acc crm.Account) (all []crm.Pipeline, err error) {
	var categories struct {
		Result struct {
			Categories []struct {
				ID   crm.Number `json:"id"`
				Name string     `json:"name"`
			} `json:"categories"`
		} `json:"result"`
	}
	if err := a.call(ctx, acc, "crm.category.list", map[string]any{"entityTypeId": dealType}, &categories); err != nil {
		return nil, err
	}
	for _, c := range categories.Result.Categories {
		p := crm.Pipeline{ID: string(c.ID), Name: c.Name}
		stages := "DEAL_STAGE"
		if c.ID != "0" {
			stages += "_" + string(c.ID)
		}
		var found list[struct {
			ID   string `json:"STATUS_ID"`
			Name string `json:"NAME"`
		}]
		if err := a.call(ctx, acc, "crm.status.list", map[string]any{"order": map[string]string{"SORT": "ASC"},
			"filter": map[string]string{"ENTITY_ID": stages}}, &found); err != nil {
			return nil, err
		}
		for _, s := range found.Result {
			p.Stages = append(p.Stages, crm.Stage(s))
		}
		all = append(all, p)
	}
	return all, nil
}

type product struct {
	ID          crm.Number `json:"ID"`
	Code        string     `json:"CODE"`
	Name        string     `json:"NAME"`
	Description string     `json:"DESCRIPTION"`
	Active      string     `json:"ACTIVE"`
	Price       crm.Number `json:"PRICE"`
	Currency    string     `json:"CURRENCY_ID"`
}

func (p product) product(currency string) crm.Product {
	out := crm.Product{ID: string(p.ID), SKU: p.Code, Name: crm.Plain(p.Name),
		Description: crm.Plain(p.Description), Price: string(p.Price), Currency: p.Currency, Archived: p.Active == "N"}
	if out.Currency == "" {
		out.Currency = currency
	}
	return out
}

// productFields are the members of products that are read.
var productFields = []string{"ID", "CODE", "NAME", "DESCRIPTION", "ACTIVE", "PRICE", "CURRENCY_ID"}

// Products implements crm.Objects.
func (a *Adapter) Products(ctx context.Context, acc crm.Account,
	cursor string) (page crm.Page[crm.Product], err error) {
	var found list[product]
	if err := a.call(ctx, acc, "crm.product.list", from(cursor, map[string]any{"select": productFields,
		"order": map[string]string{"ID": "ASC"}}), &found); err != nil {
		return page, err
	}
	for _, p := range found.Result {
		page.Items = append(page.Items, p.product(acc.Currency))
	}
	page.Next = string(found.Next)
	return page, nil
}

// Product implements crm.Objects.
func (a *Adapter) Product(ctx context.Context, acc crm.Account, productID string) (crm.Product, error) {
	var found struct {
		Result product `json:"result"`
	}
	err := a.call(ctx, acc, "crm.product.get", map[string]any{"id": productID}, &found)
	return found.Result.product(acc.Currency), err
}

// Existing implements crm.Objects.
func (a *Adapter) Existing(ctx context.Context, acc crm.Account, productIDs []string) (all []string, err error) {
	var found list[product]
	err = a.call(ctx, acc, "crm.product.list", map[string]any{"select": []string{"ID"},
		"filter": map[string]any{"ID": productIDs}}, &found)
	for _, p := range found.Result {
		all = append(all, string(p.ID))
	}
	return all, err
}

type deal struct {
	ID       crm.Number `json:"ID"`
	Title    string     `json:"TITLE"`
	Comments string     `json:"COMMENTS"`
	Stage    string     `json:"STAGE_ID"`
	Category crm.Number `json:"CATEGORY_ID"`
	Amount   crm.Number `json:"OPPORTUNITY"`
	Currency string     `json:"CURRENCY_ID"`
	Changed  time.Time  `json:"DATE_MODIFY"`
	Moved    time.Time  `json:"MOVED_TIME"`
}

func (d deal) deal(currency string) crm.Deal {
	out := crm.Deal{ID: string(d.ID), Name: d.Title, Description: crm.Plain(d.Comments), Pipeline: string(d.Category),
		Stage: d.Stage, Amount: string(d.Amount), Currency: d.Currency, Changed: d.Changed, Entered: d.Moved}
	if out.Currency == "" {
		out.Currency = currency
	}
	return out
}

var dealFields = []string{"ID", "TITLE", "COMMENTS", "STAGE_ID", "CATEGORY_ID", "OPPORTUNITY", "CURRENCY_ID",
	"DATE_MODIFY", "MOVED_TIME"}

// Deals implements crm.Objects.
func (a *Adapter) Deals(ctx context.Context, acc crm.Account, since time.Time,
	cursor string) (page crm.Page[crm.Deal], err error) {
	var found list[deal]
	if err := a.call(ctx, acc, "crm.deal.list", from(cursor, map[string]any{"select": dealFields,
		"filter": map[string]string{">=DATE_MODIFY": since.UTC().Format(time.RFC3339)},
		"order":  map[string]string{"ID": "ASC"}}), &found); err != nil {
		return page, err
	}
	for _, d := range found.Result {
		page.Items = append(page.Items, d.deal(acc.Currency))
	}
	page.Next = string(found.Next)
	return page, nil
}

// Deal implements crm.Objects.
func (a *Adapter) Deal(ctx context.Context, acc crm.Account, dealID string) (crm.Deal, error) {
	var found struct {
		Result deal `json:"result"`
	}
	err := a.call(ctx, acc, "crm.deal.get", map[string]any{"id": dealID}, &found)
	return found.Result.deal(acc.Currency), err
}

// HasNote implements crm.Objects.
func (a *Adapter) HasNote(ctx context.Context, acc crm.Account, dealID, text string) (bool, error) {
	for cursor := "0"; cursor != ""; {
		var found list[struct {
			Comment string `json:"COMMENT"`
		}]
		if err := a.call(ctx, acc, "crm.timeline.comment.list", from(cursor, map[string]any{
			"select": []string{"ID", "COMMENT"},
			"filter": map[string]string{"ENTITY_ID": dealID, "ENTITY_TYPE": "deal"}}), &found); err != nil {
			return false, err
		}
		for _, n := range found.Result {
			if strings.Contains(n.Comment, text) {
				return true, nil
			}
		}
		cursor = string(found.Next)
	}
	return false, nil
}

// AddNote implements crm.Objects.
func (a *Adapter) AddNote(ctx context.Context, acc crm.Account, dealID, text string) error {
	const method = "crm.timeline.comment.add"
	// A comment has BBCode.
	text = strings.NewReplacer("[", "(", "]", ")").Replace(text)
	return a.make(ctx, acc, wire.Call{Name: method, Posts: true}, method, map[string]any{
		"fields": map[string]string{"ENTITY_ID": dealID, "ENTITY_TYPE": "deal", "COMMENT": text}}, nil)
}
