package crm

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// Sandbox implements crm.Adapter.
type Sandbox struct {
	name  string
	facts Facts
	now   func() time.Time
}

var _ Adapter = (*Sandbox)(nil)

// NewSandbox returns the adapter that stands for a CRM.
func NewSandbox(name string, facts Facts, now func() time.Time) *Sandbox {
	facts.Shared = false // each integration of the sandbox has an address of its own
	return &Sandbox{name, facts, now}
}

var pipelines = []Pipeline{{ID: "sales", Name: "Sales", Stages: []Stage{
	{ID: "new", Name: "New"}, {ID: "offer", Name: "Offer"}, {ID: "won", Name: "Won"}, {ID: "lost", Name: "Lost"}}}}

var products = []Product{
	{ID: "1", SKU: "SANDBOX-SHOE", Name: "Trail running shoe", Description: "Made of recycled nets", Price: "129.00",
		Currency: "EUR"},
	{ID: "2", SKU: "SANDBOX-SOCKS", Name: "Wool socks", Price: "19.00", Currency: "EUR"},
	{ID: "3", Name: "Gift card", Price: "50.00", Currency: "EUR"},
}

// Name implements crm.Adapter.
func (a *Sandbox) Name() string { return a.name }

// Facts implements crm.Adapter.
func (a *Sandbox) Facts() Facts { return a.facts }

// Authorization implements crm.Connector. Its address is the callback itself.
func (*Sandbox) Authorization(_ context.Context, in Authorization) (string, error) {
	return in.RedirectURL + "?" + url.Values{"code": {"sandbox"}, "state": {in.State}}.Encode(), nil
}

// Connect implements crm.Connector. Each grant is for an account of its own.
func (a *Sandbox) Connect(context.Context, Grant) (Account, error) {
	return Account{ID: "sandbox-" + rand.Text(), Name: "Sandbox of " + a.facts.Label, Currency: "EUR"}, nil
}

// Refresh implements crm.Connector. The token does not end.
func (*Sandbox) Refresh(_ context.Context, acc Account) (platform.Token, error) {
	return acc.Token, nil
}

// Revoke implements crm.Connector.
func (*Sandbox) Revoke(context.Context, Account) error { return nil }

// Subscribe implements crm.Connector.
func (*Sandbox) Subscribe(context.Context, Account, string) error { return nil }

// Unsubscribe implements crm.Connector.
func (*Sandbox) Unsubscribe(context.Context, Account, string) error { return nil }

// Hints implements crm.Connector.
func (*Sandbox) Hints(_ context.Context, _ Account, h Hook) ([]Hint, error) {
	var hint struct {
		Object Object `json:"object"`
		ID     string `json:"id"`
	}
	if err := json.Unmarshal(h.Body, &hint); err != nil {
		return nil, errors.Join(ErrForged, err)
	}
	if hint.ID == "" || hint.Object != DealObject && hint.Object != ProductObject {
		return nil, nil
	}
	return []Hint{{Object: hint.Object, ID: hint.ID}}, nil
}

// Pipelines implements crm.Objects.
func (*Sandbox) Pipelines(context.Context, Account) ([]Pipeline, error) {
	return pipelines, nil
}

// Products implements crm.Objects.
func (*Sandbox) Products(context.Context, Account, string) (Page[Product], error) {
	return Page[Product]{Items: slices.Clone(products)}, nil
}

// Product implements crm.Objects.
func (*Sandbox) Product(_ context.Context, _ Account, productID string) (Product, error) {
	i := slices.IndexFunc(products, func(p Product) bool { return p.ID == productID })
	if i < 0 {
		return Product{}, NotFound()
	}
	return products[i], nil
}

// Existing implements crm.Objects.
func (a *Sandbox) Existing(ctx context.Context, acc Account, productIDs []string) (found []string, err error) {
	for _, id := range productIDs {
		if _, err := a.Product(ctx, acc, id); err == nil {
			found = append(found, id)
		}
	}
	return found, nil
}

// longBefore is the time for which a deal without a suffix is in its stage.
const longBefore = 365 * 24 * time.Hour

// Deals implements crm.Objects.
func (a *Sandbox) Deals(ctx context.Context, acc Account, _ time.Time, _ string) (page Page[Deal],
	err error) {
	d, err := a.Deal(ctx, acc, "won") // it makes nothing: it was there before
	page.Items = []Deal{d}
	return page, err
}

// Deal implements crm.Objects. The id of a deal is its stage. One with a suffix after a hyphen has just come into it,
// the others were there long before.
func (a *Sandbox) Deal(_ context.Context, _ Account, dealID string) (Deal, error) {
	stage, _, fresh := strings.Cut(dealID, "-")
	entered := a.now()
	if !fresh {
		entered = entered.Add(-longBefore)
	}
	if !slices.ContainsFunc(pipelines[0].Stages, func(s Stage) bool { return s.ID == stage }) {
		return Deal{}, NotFound()
	}
	return Deal{ID: dealID, Name: "Shoes for the team of Example Inc.", Pipeline: pipelines[0].ID, Stage: stage,
		Amount: "1290.00", Currency: "EUR", ChangedAt: entered, EnteredAt: entered}, nil
}

// HasNote implements crm.Objects.
func (*Sandbox) HasNote(context.Context, Account, string, string) (bool, error) {
	return false, nil
}

// AddNote implements crm.Objects.
func (*Sandbox) AddNote(context.Context, Account, string, string) error { return nil }
