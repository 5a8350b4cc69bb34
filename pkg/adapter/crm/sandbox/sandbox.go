// Package sandbox stands for every CRM with test keys. It has no state: three products, one deal that was just won,
// and one deal in each stage, whose id is the stage. A caller rehearses a change of stage by a webhook of the form
// {"object": "deal", "id": "won"}.
package sandbox

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/adapter/platform"
)

// Adapter implements crm.Adapter.
type Adapter struct {
	name  string
	facts crm.Facts
	now   func() time.Time
}

var _ crm.Adapter = (*Adapter)(nil)

// New returns the adapter that stands for a CRM.
func New(name string, facts crm.Facts, now func() time.Time) *Adapter {
	facts.Shared = false // each integration of the sandbox has an address of its own
	return &Adapter{name, facts, now}
}

var pipelines = []crm.Pipeline{{ID: "sales", Name: "Sales", Stages: []crm.Stage{
	{ID: "new", Name: "New"}, {ID: "offer", Name: "Offer"}, {ID: "won", Name: "Won"}, {ID: "lost", Name: "Lost"}}}}

var products = []crm.Product{
	{ID: "1", SKU: "SANDBOX-SHOE", Name: "Trail running shoe", Description: "Made of recycled nets", Price: "129.00",
		Currency: "EUR"},
	{ID: "2", SKU: "SANDBOX-SOCKS", Name: "Wool socks", Price: "19.00", Currency: "EUR"},
	{ID: "3", Name: "Gift card", Price: "50.00", Currency: "EUR"},
}

// Name implements crm.Adapter.
func (a *Adapter) Name() string { return a.name }

// Facts implements crm.Adapter.
func (a *Adapter) Facts() crm.Facts { return a.facts }

// Authorization implements crm.Connector. Its address is the callback itself.
func (*Adapter) Authorization(_ context.Context, in crm.Authorization) (string, error) {
	return in.RedirectURL + "?" + url.Values{"code": {"sandbox"}, "state": {in.State}}.Encode(), nil
}

// Connect implements crm.Connector. Each grant is for an account of its own.
func (a *Adapter) Connect(context.Context, crm.Grant) (crm.Account, error) {
	return crm.Account{ID: "sandbox-" + rand.Text(), Name: "Sandbox of " + a.facts.Label, Currency: "EUR"}, nil
}

// Refresh implements crm.Connector. The token does not end.
func (*Adapter) Refresh(_ context.Context, acc crm.Account) (platform.Token, error) {
	return acc.Token, nil
}

// Revoke implements crm.Connector.
func (*Adapter) Revoke(context.Context, crm.Account) error { return nil }

// Subscribe implements crm.Connector.
func (*Adapter) Subscribe(context.Context, crm.Account, string) error { return nil }

// Unsubscribe implements crm.Connector.
func (*Adapter) Unsubscribe(context.Context, crm.Account, string) error { return nil }

// Hints implements crm.Connector.
func (*Adapter) Hints(_ context.Context, _ crm.Account, h crm.Hook) ([]crm.Hint, error) {
	var hint struct {
		Object crm.Object `json:"object"`
		ID     string     `json:"id"`
	}
	if err := json.Unmarshal(h.Body, &hint); err != nil {
		return nil, errors.Join(crm.ErrForged, err)
	}
	if hint.ID == "" || hint.Object != crm.DealObject && hint.Object != crm.ProductObject {
		return nil, nil
	}
	return []crm.Hint{{Object: hint.Object, ID: hint.ID}}, nil
}

// Pipelines implements crm.Objects.
func (*Adapter) Pipelines(context.Context, crm.Account) ([]crm.Pipeline, error) {
	return pipelines, nil
}

// Products implements crm.Objects.
func (*Adapter) Products(context.Context, crm.Account, string) (crm.Page[crm.Product], error) {
	return crm.Page[crm.Product]{Items: slices.Clone(products)}, nil
}

// Product implements crm.Objects.
func (*Adapter) Product(_ context.Context, _ crm.Account, productID string) (crm.Product, error) {
	i := slices.IndexFunc(products, func(p crm.Product) bool { return p.ID == productID })
	if i < 0 {
		return crm.Product{}, crm.NotFound()
	}
	return products[i], nil
}

// Existing implements crm.Objects.
func (a *Adapter) Existing(ctx context.Context, acc crm.Account, productIDs []string) (found []string, err error) {
	for _, id := range productIDs {
		if _, err := a.Product(ctx, acc, id); err == nil {
			found = append(found, id)
		}
	}
	return found, nil
}

// Deals implements crm.Objects.
func (a *Adapter) Deals(ctx context.Context, acc crm.Account, _ time.Time, _ string) (page crm.Page[crm.Deal],
	err error) {
	d, err := a.Deal(ctx, acc, "won")
	page.Items = []crm.Deal{d}
	return page, err
}

// Deal implements crm.Objects. The id of a deal is its stage, with a suffix after a hyphen if there are several.
func (a *Adapter) Deal(_ context.Context, _ crm.Account, dealID string) (crm.Deal, error) {
	stage, _, _ := strings.Cut(dealID, "-")
	if !slices.ContainsFunc(pipelines[0].Stages, func(s crm.Stage) bool { return s.ID == stage }) {
		return crm.Deal{}, crm.NotFound()
	}
	return crm.Deal{ID: dealID, Name: "Shoes for the team of Example Inc.", Pipeline: pipelines[0].ID, Stage: stage,
		Amount: "1290.00", Currency: "EUR", Changed: a.now()}, nil
}

// HasNote implements crm.Objects.
func (*Adapter) HasNote(context.Context, crm.Account, string, string) (bool, error) {
	return false, nil
}

// AddNote implements crm.Objects.
func (*Adapter) AddNote(context.Context, crm.Account, string, string) error { return nil }
