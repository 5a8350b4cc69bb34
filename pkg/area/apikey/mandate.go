package apikey

import (
	"slices"
	"strconv"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/text"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/resource"
)

var (
	_ = format.Define("mandate-platforms", format.Format{Fewest: 1, Many: 20, Distinct: true,
		List: []any{"telegram", "vk"}})
	_ = format.Define("mandate-act", format.Format{Values: format.Values(auth.AllActs()...), Distinct: true})
)

// MandateBody is the mandate of a key in a body, also in a merge patch.
type MandateBody struct {
	_ struct{} `nullable:"true"`
	// Credits that the key may spend on a day (UTC), with the keys that it has created. A call that would spend more
	// fails with 402 spend_limit_reached. Absent or null: no limit of a day.
	CreditsADay *int64 `json:"credits_a_day,omitempty" nullable:"true" format:"credits" example:"200"`
	// Platforms that it may publish to: ids of GET /v1/social/platforms. Absent or null: all.
	Platforms []string `json:"platforms,omitempty" nullable:"true" format:"mandate-platforms"`
	// Hours of each day in which nothing of it is published. Work that spends is permitted. Absent or null: none.
	QuietHours *QuietHoursBody `json:"quiet_hours,omitempty"`
	// Acts that only people do: a call that does one fails with 403 person_required. publish: schedule, publish and
	// approve content. spend: spend credits. delete: delete, disconnect and empty the sandbox. invite: open the account
	// to others by an address, a secret, a right or a copy, as by webhooks, API keys, review links, social accounts,
	// applications, CRMs, imports and exports. x-opens of an operation says what it opens. Absent, null or empty: none.
	NeedsPerson []auth.Act `json:"needs_person,omitempty" nullable:"true" format:"mandate-act" example:"[\"delete\"]"`
	// Time from which on the key does nothing any more (RFC 3339): its calls fail with 403 outside_mandate. A time that
	// is past ends the mandate at once. Absent or null: none.
	Until *resource.Time `json:"until,omitempty" nullable:"true"`
}

// QuietHoursBody are quiet hours in a body.
type QuietHoursBody struct {
	_ struct{} `nullable:"true"`
	// Time of day at which they begin (HH:MM).
	From string `json:"from" minLength:"5" maxLength:"5" example:"22:00"`
	// Time of day at which they end (HH:MM). It may be earlier than from: then they contain midnight.
	To string `json:"to" minLength:"5" maxLength:"5" example:"08:00"`
	// IANA time zone in which both times of day are meant.
	Timezone string `json:"timezone" minLength:"1" maxLength:"64" example:"Europe/Berlin"`
}

// mandateOf returns the body of a mandate, or nil for nil.
func mandateOf(m *keyrecord.Mandate) *MandateBody {
	if m == nil {
		return nil
	}
	b := &MandateBody{CreditsADay: m.CreditsADay, Platforms: m.Platforms, NeedsPerson: m.NeedsPerson, Until: m.Until}
	if q := m.QuietHours; q != nil {
		b.QuietHours = &QuietHoursBody{From: q.From, To: q.To, Timezone: q.Timezone}
	}
	return b
}

// mandate returns the mandate of a body with an id, or nil for nil.
func (b *MandateBody) mandate(id string) *keyrecord.Mandate {
	if b == nil {
		return nil
	}
	m := &keyrecord.Mandate{ID: id, CreditsADay: b.CreditsADay, Platforms: b.Platforms, Until: b.Until,
		NeedsPerson: append([]auth.Act{}, b.NeedsPerson...)}
	if q := b.QuietHours; q != nil {
		m.QuietHours = &auth.QuietHours{From: q.From, To: q.To, Timezone: q.Timezone}
	}
	return m
}

// check refuses a mandate that is not valid, and puts it into canonical form.
func (b *MandateBody) check() error {
	if b == nil {
		return nil
	}
	var found []error
	if n := b.CreditsADay; n != nil && (*n < 0 || *n > ledger.MaxCredits) {
		found = append(found, errs.Invalid("/mandate/credits_a_day", "must be between 0 and %d, or null",
			int64(ledger.MaxCredits)))
	}
	known := registry.Names()
	for i, name := range b.Platforms {
		if !slices.Contains(known, name) {
			found = append(found, errs.Invalid("/mandate/platforms/"+strconv.Itoa(i), "%s",
				text.NotOneOf(name, known)))
		}
	}
	if b.QuietHours != nil {
		if member, problem := b.mandate("").QuietHours.Check(); member != "" {
			found = append(found, errs.Invalid("/mandate/quiet_hours/"+member, "%s", problem))
		}
	}
	for i, act := range b.NeedsPerson {
		if !slices.Contains(auth.AllActs(), act) {
			found = append(found, errs.Invalid("/mandate/needs_person/"+strconv.Itoa(i), "%s",
				text.NotOneOf(string(act), format.Values(auth.AllActs()...))))
		}
	}
	if b.Until != nil {
		at := resource.Instant(b.Until.Time)
		b.Until = &at
	}
	return errs.All(found...)
}
