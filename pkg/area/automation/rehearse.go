package automation

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/quote"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/clock"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
)

// The time ahead for which a rehearsal shows the runs at times, and the most that it shows.
const (
	rehearsedAhead = 7 * 24 * time.Hour
	mostRehearsed  = 50
)

// rehearsed is an automation that is rehearsed, with what it was to have.
type rehearsed struct {
	*Record
	factory factory.Factory
	set     settings
	owner   tenant.Owner
}

// rehearse ends a rehearsal of an automation, which has filled a transaction.
func (s *Service) rehearse(ctx context.Context, tx, filled *store.Tx, terms *quote.Terms, r rehearsed) (out Details,
	err error) {
	now := s.now()
	clock, err := testclock.Now(ctx, s.db, auth.FromContext(ctx).Owner, now)
	if err != nil {
		return out, err
	}
	// What was refused is shown as well, as the call has sent it.
	r.Trigger, r.Template, r.MaxPerDay, r.UTM, r.State = r.set.Trigger, r.set.Template, r.set.MaxPerDay, r.set.UTM,
		Active
	r.Metadata, r.CreatedBy = r.set.Metadata.OrEmpty(), auth.FromContext(ctx).Actor.ID
	times := []*resource.Time{nil}
	if r.Trigger.Kind == OfTime {
		if times, err = r.times(clock); terms.Meet(err) != nil {
			return out, err
		}
	}
	one, err := content.Rehearser{Service: s.items}.Rehearse(ctx, terms, sampleOf(r.Trigger.Kind, now).fill(r.Template,
		r.FactoryID, r.UTM, true), inTemplate)
	if err != nil {
		return out, err
	}
	for _, at := range times {
		if one != nil {
			item := *one
			item.PublishAt = at
			terms.Add(item, "", "")
		}
	}
	out = r.Details
	out.Rehearsal, err = terms.Close(ctx, s.db, tx, filled, r.owner)
	return out, err
}

// times returns the next times at which an automation makes an item, of each day no more than it may.
func (r rehearsed) times(now time.Time) (all []*resource.Time, err error) {
	day, made, at := "", 0, now
	for len(all) < mostRehearsed {
		if at, err = r.Trigger.next(r.factory, at); err != nil || at.Sub(now) > rehearsedAhead {
			return all, err
		}
		if of := at.Format(time.DateOnly); of != day {
			day, made = of, 0
		}
		if made++; made > r.MaxPerDay {
			at = clock.On(at, 24*time.Hour).Add(-1) // of this day no more are made
			continue
		}
		next := resource.Instant(at)
		all = append(all, &next)
	}
	return all, nil
}
