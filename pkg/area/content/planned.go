package content

import (
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate/catalog"
)

// Planned returns the record with which items of a content plan begin. It is made from a kind and a
// prompt as in createContentItem.
func Planned(f factory.Factory, kind item.Kind, format, quality, subject string, slot *prompt.Plan,
	sandbox *item.Rehearsal, offer catalog.Offer, mode tenant.Mode, now time.Time) (*item.Record, error) {
	s := &Service{offer: offer}
	b := createBody{FactoryID: f.ID, Kind: kind, Format: format, Quality: quality, Prompt: subject,
		Sandbox: sandbox, slot: slot}
	a := references{factories: map[string]factory.Factory{f.ID: f}}
	if f.Type != factory.Seller {
		return s.newRecord(b, a, mode, now)
	}
	a.longest = item.LongestProduct()
	r, err := s.newRecord(b, a, mode, now)
	if err == nil {
		r.Brief.Product, r.ProductID = nil, nil // the plan sets the product later
	}
	return r, err
}

// CheckRehearsal rejects instructions for the sandbox that come with a live key, or contradict each other.
func CheckRehearsal(r *item.Rehearsal, mode tenant.Mode) error { return checkRehearsal(r, mode) }
