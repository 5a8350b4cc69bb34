package content

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
)

// nextSlot is the value of publish_at for the next free time of the schedule.
const nextSlot = "next_slot"

// publishTime is a time of publication, or the next slot.
type publishTime struct {
	resource.Time
	Next bool
	// impossible is set for a day or time that does not exist, such as 30 February.
	impossible bool
}

// UnmarshalJSON reads a time, or the word for the next slot.
func (t *publishTime) UnmarshalJSON(b []byte) error {
	if t.Next = string(b) == `"`+nextSlot+`"`; t.Next {
		return nil
	}
	t.impossible = json.Unmarshal(b, &t.Time) != nil
	return nil
}

// check refuses a time that does not exist, is past or is too far ahead.
func (t publishTime) check(now time.Time) error {
	switch {
	case t.impossible:
		return errs.Invalid("/publish_at", "is no day or time of the calendar")
	case t.Next:
		return nil
	}
	return checkAhead(t.Time.Time, now)
}

// timePattern is the form of RFC 3339, with a zone.
const timePattern = `\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?` +
	`([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)`

// Schema describes the time in the OpenAPI document.
func (publishTime) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString, Pattern: "^(" + nextSlot + "|" + timePattern + ")$",
		PatternDescription: "a time with its zone, such as 2027-01-15T09:30:00Z or 2027-01-15T10:30:00+01:00, or " +
			nextSlot,
		Examples: []any{"2027-01-15T09:30:00Z"}}
	s.PrecomputeMessages()
	return s
}

// TimesOf returns the schedule of a factory.
func TimesOf(f factory.Factory) (publication.Times, error) {
	t := publication.Times{Zone: time.UTC, Factory: f.ID, Accounts: f.SocialAccountIDs}
	if f.Schedule == nil {
		return t, nil
	}
	var err error
	t.Zone, err = time.LoadLocation(f.Schedule.Timezone)
	t.Clock = f.Schedule.Times
	return t, err
}

// clock returns the time of the caller: that of the clock of its sandbox, or the real one.
func (s *Service) clock(ctx context.Context) (time.Time, error) {
	return testclock.Now(ctx, s.db, auth.FromContext(ctx).Owner, s.now())
}

// next returns the next free time of the schedule of a factory on the accounts.
func (s *Service) next(ctx context.Context, f factory.Factory, r *item.Record, targets []publication.Target,
	clock time.Time, besides []item.Slot) (time.Time, []string, error) {
	var accounts []string
	for _, t := range targets {
		accounts = append(accounts, t.Account.ID)
	}
	slices.Sort(accounts)
	times, err := TimesOf(f)
	switch {
	case err != nil:
		return time.Time{}, nil, err
	case len(times.Clock) == 0:
		return time.Time{}, nil, errs.Invalid("/publish_at", "needs a schedule of the factory with times. Set "+
			"schedule by PATCH /v1/factories/{factory_id}, or send a time")
	case len(accounts) > publication.MaxQueued:
		return time.Time{}, nil, errs.Invalid("/publish_at", "may be next_slot for up to %d accounts; there are %d. "+
			"Name them in social_account_ids", publication.MaxQueued, len(accounts))
	}
	times.Skip = func(at time.Time) bool { return auth.FromContext(ctx).RequireHour(at) != nil }
	at, ok, err := publication.NextSlot(ctx, s.db, times, accounts, r, auth.FromContext(ctx).Owner,
		clock, besides)
	if err == nil && !ok {
		err = errs.Invalid("/publish_at", "finds no free time in the schedule of the factory within 180 days")
	}
	return at, accounts, err
}

// enqueue gives a scheduled item the next free time of the schedule of its factory on the accounts.
func (s *Service) enqueue(ctx context.Context, tx *store.Tx, o tenant.Owner, r *item.Record,
	targets []publication.Target, clock time.Time) (time.Time, error) {
	factories, _, err := s.factories.FindAll(ctx, []string{r.Item.FactoryID})
	if err != nil {
		return time.Time{}, err
	}
	at, accounts, err := s.next(ctx, factories[r.Item.FactoryID], r, targets, clock, nil)
	if err == nil {
		publication.Claim(tx, s.now(), o, r, at, accounts)
	}
	return at, err
}

// claim adds to the transaction that a new item takes the slots that its body asked for.
func claim(tx *store.Tx, now time.Time, o tenant.Owner, r *item.Record) {
	if len(r.Wanted) > 0 {
		publication.Claim(tx, now, o, r, r.Item.PublishAt.Time, r.Wanted)
	}
}
