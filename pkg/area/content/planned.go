package content

import (
	"time"

	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate/catalog"
)

// Planned returns the record with which items of a content plan begin. It is made from a kind and a
// prompt as in createContentItem, with arms of experiments, or nil.
func Planned(f factory.Factory, kind item.Kind, format, quality, subject string, slot *prompt.Plan, arms *item.Trial,
	sandbox *item.Rehearsal, offer catalog.Offer, mode tenant.Mode, now time.Time) (*item.Record, error) {
	s := &Service{offer: offer}
	b := createBody{FactoryID: f.ID, Kind: kind, Format: format, Quality: quality, Prompt: subject,
		Sandbox: sandbox, slot: slot, drawn: arms}
	b.fix()
	f.State = factory.StateActive // the plan itself refuses a factory that is paused
	a := references{factories: map[string]factory.Factory{f.ID: f}}
	if f.Type == factory.Seller {
		a.longest = item.LongestProduct()
	}
	r, err := s.newRecord(b, a, mode, now)
	if err == nil && f.Type == factory.Seller {
		r.Brief.Product, r.Item.ProductID = nil, nil // the plan sets the product later
	}
	if err == nil {
		r.Item.Experiment = nil
	}
	return r, err
}

// Takes reports whether a factor applies to the items of a plan that have a kind and a format. Plans alone decide
// about format and slot.
func Takes(f experiment.Factor, kind item.Kind, format string) bool {
	return (&createBody{Kind: kind, Format: format}).takes(f, time.UTC, time.Time{})
}

// CheckRehearsal rejects instructions for the sandbox that come with a live key, or contradict each other.
func CheckRehearsal(r *item.Rehearsal, mode tenant.Mode) error { return checkRehearsal(r, mode) }
