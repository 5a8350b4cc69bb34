package plan

import (
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/quote"
	"github.com/content-automation/api/pkg/base/tenant"
)

// price sets the recipe of the items of a draft, and their price.
func (s *Service) price(d *draft, b createBody, f factory.Factory, l lessons, terms *quote.Terms, mode tenant.Mode,
	now time.Time) (err error) {
	// A trained model writes texts of items; its base model chooses their topics.
	base, _ := f.TextModel()
	if f.ReplaceRetiredModels {
		base = s.offer.Succeed(base, mode == tenant.Live)
	}
	if d.recipe.Model, err = s.offer.Choose("text", "", base, mode == tenant.Live); err != nil {
		return ofFactory(err)
	}
	live := map[string]int64{}
	d.recipe.Prices, d.recipe.Reserves = live, map[string]int64{}
	d.made = map[string]string{}
	begin := func(t Type, arms *item.Trial) (*item.Record, error) {
		r, err := content.Planned(f, t.Kind, t.Format, d.plan.Quality, strings.Repeat("x", MaxTopic),
			LongestSlot(b.Brief), arms, b.Sandbox, s.offer, mode, now)
		if err != nil {
			return nil, ofFactory(err)
		}
		if d.made[t.Name] == "" {
			d.made[t.Name] = r.Attempt.Made()
		}
		bound, err := terms.BoundOf(t.Name, d.made[t.Name])
		if err != nil {
			return nil, err
		}
		price := item.PlannerOf(r).LivePrice()
		if r.Attempt.Bound(bound); bound != nil {
			price = min(price, bound.Credits)
		}
		live[t.Name] = max(live[t.Name], price)
		d.recipe.Reserves[t.Name] = max(d.recipe.Reserves[t.Name], r.Attempt.Credits)
		r.Item.Prompt, r.Slot = "", nil
		return r, nil
	}
	for _, t := range Types {
		if !slices.Contains(d.plan.ContentTypes, t.Name) {
			continue
		}
		base := l.base(t)
		if d.recipe.Items[t.Name], err = begin(t, base); err != nil {
			return err
		}
		for _, a := range l.variants(t) {
			with := &item.Trial{Arms: append([]item.TrialArm{a}, base.Arms...)}
			if d.recipe.Variants == nil {
				d.recipe.Variants = map[string]*item.Record{}
			}
			if d.recipe.Variants[variant(t.Name, a.Arm)], err = begin(t, with); err != nil {
				return err
			}
		}
	}
	if types := formatsOf(l.runs, d.plan.ContentTypes); d.plan.WriteAheadHours == nil {
		level(live, types)
		level(d.recipe.Reserves, types)
	}
	slots, err := d.plan.Slots(d.recipe, Hours{})
	if err != nil {
		return err
	}
	if err := d.plan.CheckCampaigns(slots); err != nil {
		return err
	}
	for _, slot := range slots {
		d.credits = append(d.credits, d.recipe.reserved(slot.Held))
		d.live += live[slot.Type]
	}
	d.plan.Items.Total, d.plan.CostEstimate = int64(len(slots)), d.live
	return nil
}
