package plan

import (
	"context"
	"slices"

	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/quote"
	"github.com/content-automation/api/pkg/base/tenant"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/rehearsal"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// rehearse ends the rehearsal of a draft, which has filled a transaction: it finds the calendar as the handler does.
func (s *Service) rehearse(ctx context.Context, tx, filled *store.Tx, terms *quote.Terms, d draft, f factory.Factory,
	o tenant.Owner) (Plan, error) {
	read, err := s.db.Get(ctx, factoryrecord.Key(f.ID))
	if err != nil {
		return d.plan, err
	}
	hours, err := hoursOf(ctx, s.db, s.now, read, d.plan.Timezone)
	if err != nil {
		return d.plan, err
	}
	slots, err := d.plan.Slots(d.recipe, hours)
	if err != nil {
		return d.plan, err
	}
	places, err := d.plan.thread(slots, d.recipe)
	if err != nil {
		return d.plan, err
	}
	items := content.Rehearser{Service: content.NewService(s.db, s.factories, nil, s.offer, s.now)}
	of := map[string]rehearsal.Item{}
	for i, slot := range slots {
		one, known := of[slot.Type]
		if !known {
			r := *d.recipe.Items[slot.Type]
			at := resource.Instant(slot.At)
			r.PublishAt = &at
			if one, err = items.ItemOf(ctx, o, &r, f.SocialAccountIDs); err != nil {
				return d.plan, err
			}
			for n := range one.Publications { // the problems that are left out belong to one time
				p := &one.Publications[n]
				p.Problems = slices.DeleteFunc(p.Problems, func(p rehearsal.Problem) bool {
					return p.Param == "/publish_at"
				})
			}
			of[slot.Type] = one
		}
		at := resource.Instant(slot.At)
		one.PublishAt, one.Pillar, one.Credits = &at, resource.Text(places[i].Pillar), d.recipe.Prices[slot.Held]
		terms.Add(one, slot.Held, d.made[slot.Held])
	}
	out := d.plan
	out.QuoteID = ""
	out.Rehearsal, err = terms.Close(ctx, s.db, tx, filled, o)
	return out, err
}
